//go:build faults

package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
)

// storedOffsets read how far the feed and the webhook service have stored each partition.
var storedOffsets = map[string]string{
	"events":  "SELECT kafka_partition, next_offset FROM feed_writers",
	"webhook": "SELECT kafka_partition, next_offset FROM fan_out_offsets",
}

const (
	kafkaTimeout = 10 * time.Second
	// catchUp is how long the readers may take to read again what a server has lost.
	catchUp = time.Minute
)

func (d *drill) inKafka(t *testing.T, do func(client *kafka.Client)) {
	t.Helper()
	transport := &kafka.Transport{MetadataTTL: time.Second}
	defer transport.CloseIdleConnections()
	do(&kafka.Client{Addr: kafka.TCP(d.kafka.instance.Address), Transport: transport, Timeout: kafkaTimeout})
}

// ends returns the end of each partition of the topic.
func (d *drill) ends(ctx context.Context, t *testing.T) map[int]int64 {
	t.Helper()
	ends := map[int]int64{}
	d.inKafka(t, func(client *kafka.Client) {
		metadata, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: []string{d.topic}})
		require.NoError(t, err)
		var asked []kafka.OffsetRequest
		for _, p := range metadata.Topics[0].Partitions {
			asked = append(asked, kafka.LastOffsetOf(p.ID))
		}
		listed, err := client.ListOffsets(ctx, &kafka.ListOffsetsRequest{Topics: map[string][]kafka.OffsetRequest{d.topic: asked}})
		require.NoError(t, err)
		for _, p := range listed.Topics[d.topic] {
			require.NoError(t, p.Error)
			ends[p.Partition] = p.LastOffset
		}
	})
	return ends
}

// deleteGroups deletes the offsets of the readers' groups, when their sessions have ended. Then Kafka does not know how far
// they had read.
func deleteGroups(ctx context.Context, t *testing.T, d *drill) {
	t.Helper()
	d.inKafka(t, func(client *kafka.Client) {
		for _, group := range []string{d.config.Name + "-feed", d.config.Name + "-webhook"} {
			var deleted *kafka.DeleteGroupsResponse
			var err error
			waitFor(catchUp, func() bool {
				deleted, err = client.DeleteGroups(ctx, &kafka.DeleteGroupsRequest{GroupIDs: []string{group}})
				return err == nil && deleted.Errors[group] == nil
			})
			require.NoError(t, err)
			require.NoError(t, deleted.Errors[group])
		}
	})
}

// awaitReaders waits until the feed and the webhook service have stored what Kafka has now. Offsets beyond the end are of a
// topic that is gone: their reader has not looked at the new one yet.
func (d *drill) awaitReaders(ctx context.Context, t *testing.T) {
	t.Helper()
	ends := d.ends(ctx, t)
	for database, query := range storedOffsets {
		var stored map[int]int64
		caughtUp := waitFor(catchUp, func() bool {
			stored = d.offsets(ctx, t, database, query)
			now := d.ends(ctx, t)
			for partition, end := range ends {
				if stored[partition] < end || stored[partition] > now[partition] {
					return false
				}
			}
			return true
		})
		require.True(t, caughtUp, "%s has stored %v of %v", database, stored, ends)
	}
}

func (d *drill) offsets(ctx context.Context, t *testing.T, database, query string) map[int]int64 {
	t.Helper()
	stored := map[int]int64{}
	withConn(ctx, t, d.urlOf(t, database), func(conn *pgx.Conn) {
		rows, err := conn.Query(ctx, query)
		require.NoError(t, err)
		var partition int
		var next int64
		_, err = pgx.ForEachRow(rows, []any{&partition, &next}, func() error {
			stored[partition] = next
			return nil
		})
		require.NoError(t, err)
	})
	return stored
}
