package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/seed"
)

// messagesAtRest are the texts of messages in the service that owns them. They are not on their way.
const messagesAtRest = "order_messages"

// testSealedEvents posts a marked message and makes a link. The feed and the receiver get both in clear, and no database, topic or
// log has them.
func (s stack) testSealedEvents(t *testing.T) {
	key := s.DemoKey(t)
	text := "canary " + rand.Text()
	order, _ := s.Post(t, key, "/orders", s.Order(t)).OK(t)["id"].(string)
	s.Post(t, key, "/orders/"+order+"/messages", harness.JSON(t, map[string]any{"body": text})).OK(t)
	batch := s.Post(t, key, "/personal-links:create-batch", s.Batch(t)).OK(t)
	link, _ := batch["results"].([]any)[0].(map[string]any)["link"].(map[string]any)
	address, _ := link["claimUrl"].(string)
	require.NotEmpty(t, address)

	// A key does not see the messages that it has posted itself.
	reader := s.NewKey(t, seed.Direct).GetApiKey()
	require.Contains(t, s.Await(t, reader, harness.Slow, order, text).Raw, `"body":"`+text+`"`)
	created := s.Await(t, reader, harness.Slow, `"personal_link.created"`, address)
	require.Equal(t, created.Raw, s.awaitDelivery(t, created.ID).Raw)

	for what, canary := range map[string][]byte{"the message": []byte(text), "the claim token": []byte(path.Base(address))} {
		t.Run(what+" is in no table", func(t *testing.T) { s.requireInNoTable(t, canary) })
		t.Run(what+" is not in the topic", func(t *testing.T) { s.requireNotInTopic(t, canary) })
		t.Run(what+" is in no log", func(t *testing.T) {
			log, err := os.ReadFile(filepath.Join(s.Config.Dir, "stack.log"))
			require.NoError(t, err)
			require.NotEmpty(t, log)
			require.NotContains(t, string(log), string(canary))
		})
	}
}

func (s stack) requireInNoTable(t *testing.T, canary []byte) {
	t.Helper()
	rows := 0
	for _, database := range local.Databases(s.Config.Name) {
		conn := s.connect(t, strings.TrimPrefix(database, s.Config.Name+"_"))
		found, err := conn.Query(t.Context(), "SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
		require.NoError(t, err)
		tables, err := pgx.CollectRows(found, pgx.RowTo[string])
		require.NoError(t, err)
		for _, table := range tables {
			if table == messagesAtRest {
				continue
			}
			found, err := conn.Query(t.Context(), "SELECT t::text FROM "+pgx.Identifier{table}.Sanitize()+" t")
			require.NoError(t, err)
			dump, err := pgx.CollectRows(found, pgx.RowTo[string])
			require.NoError(t, err)
			for _, row := range dump {
				require.NotContains(t, row, string(canary), table)
				require.NotContains(t, row, hex.EncodeToString(canary), table)
			}
			rows += len(dump)
		}
	}
	require.NotZero(t, rows)
}

func (s stack) requireNotInTopic(t *testing.T, canary []byte) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	broker := s.Config.KafkaBrokers[0]
	conn, err := kafka.DialContext(ctx, "tcp", broker)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	partitions, err := conn.ReadPartitions(s.Config.Topic())
	require.NoError(t, err)
	read := 0
	for _, p := range partitions {
		read += requireNotInPartition(ctx, t, broker, p, canary)
	}
	require.NotZero(t, read)
}

// requireNotInPartition reads the whole partition and returns the number of its messages.
func requireNotInPartition(ctx context.Context, t *testing.T, broker string, p kafka.Partition, canary []byte) (read int) {
	t.Helper()
	leader, err := kafka.DialLeader(ctx, "tcp", broker, p.Topic, p.ID)
	require.NoError(t, err)
	defer func() { _ = leader.Close() }()
	first, last, err := leader.ReadOffsets()
	require.NoError(t, err)
	if first == last {
		return 0
	}
	reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{broker}, Topic: p.Topic, Partition: p.ID})
	defer func() { _ = reader.Close() }()
	require.NoError(t, reader.SetOffset(first))
	for {
		m, err := reader.ReadMessage(ctx)
		require.NoError(t, err)
		require.False(t, bytes.Contains(m.Value, canary), "partition %d, offset %d", p.ID, m.Offset)
		if read++; m.Offset >= last-1 {
			return read
		}
	}
}
