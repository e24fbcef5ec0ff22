package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/identity"
)

// canaries are texts that only the receivers of events may see, and the id of an order, which is stored everywhere.
type canaries struct{ message, token, order string }

// testSealedEvents posts a marked message and makes a link. The feed and the receiver get both in clear, and no database, topic or
// log has them. The same searches find the id of the order.
func (s stack) testSealedEvents(t *testing.T) {
	c := s.releaseCanaries(t)
	for _, table := range []string{"orders.orders", "events.feed", "webhook.events"} {
		require.Contains(t, s.rowsOf(t, c.order), table)
	}
	require.NotZero(t, s.countInTopic(t, c.order))
	for what, canary := range map[string]string{"the message": c.message, "the claim token": c.token} {
		t.Run(what+" is in no table", func(t *testing.T) { require.Empty(t, s.rowsOf(t, canary)) })
		t.Run(what+" is not in the topic", func(t *testing.T) { require.Zero(t, s.countInTopic(t, canary)) })
		t.Run(what+" is in no log", func(t *testing.T) { require.NotContains(t, s.log(t), canary) })
	}
}

// releaseCanaries waits until the feed and the receiver have both.
func (s stack) releaseCanaries(t *testing.T) canaries {
	t.Helper()
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

	// The token also passes by when its page is read and when a claim is refused.
	token := path.Base(address)
	require.Equal(t, http.StatusOK, harness.Visit(t, address).Status)
	refused := s.claimOf(token)
	refused.ProductId = rand.Text()
	_, err := s.GiftSite(t).ClaimLink(t.Context(), refused)
	require.Error(t, err)
	return canaries{message: text, token: token, order: order}
}

func (s stack) log(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(s.Config.Dir, "stack.log"))
	require.NoError(t, err)
	require.NotEmpty(t, log)
	return string(log)
}

// countInTopic returns how many messages of the topic have the canary.
func (s stack) countInTopic(t *testing.T, canary string) (found int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	// The platform may have started the broker itself.
	broker, _, _ := strings.Cut(s.Programs[identity.Events]["GIFTING_KAFKA_BROKERS"], ",")
	require.NotEmpty(t, broker)
	conn, err := kafka.DialContext(ctx, "tcp", broker)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	partitions, err := conn.ReadPartitions(s.Config.Topic())
	require.NoError(t, err)
	read := 0
	for _, p := range partitions {
		for _, value := range readPartition(ctx, t, broker, p) {
			read++
			if bytes.Contains(value, []byte(canary)) {
				found++
			}
		}
	}
	require.NotZero(t, read)
	return found
}

// readPartition returns the values of all messages of the partition.
func readPartition(ctx context.Context, t *testing.T, broker string, p kafka.Partition) (values [][]byte) {
	t.Helper()
	leader, err := kafka.DialLeader(ctx, "tcp", broker, p.Topic, p.ID)
	require.NoError(t, err)
	defer func() { _ = leader.Close() }()
	first, last, err := leader.ReadOffsets()
	require.NoError(t, err)
	if first == last {
		return nil
	}
	reader := kafka.NewReader(kafka.ReaderConfig{
		Brokers: []string{broker}, Topic: p.Topic, Partition: p.ID, MaxWait: 100 * time.Millisecond, ReadLagInterval: -1,
	})
	defer func() { _ = reader.Close() }()
	require.NoError(t, reader.SetOffset(first))
	for {
		m, err := reader.ReadMessage(ctx)
		require.NoError(t, err)
		values = append(values, m.Value)
		if m.Offset >= last-1 {
			return values
		}
	}
}

// testPersonalData looks for the marked values in every row of every table.
func (s stack) testPersonalData(t *testing.T) {
	for _, database := range local.Databases(s.Config.Name) {
		name := strings.TrimPrefix(database, s.Config.Name+"_")
		t.Run(name+" keeps no personal data in clear", func(t *testing.T) {
			for _, row := range harness.Rows(t, s.connect(t, name)) {
				harness.RequireNoPersonalData(t, row)
			}
		})
	}
}
