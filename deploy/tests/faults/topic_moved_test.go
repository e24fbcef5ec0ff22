//go:build faults

package faults_test

import (
	"context"
	"strconv"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
)

// morePartitions gives the topic more partitions, then restarts the relay: nothing is read or written any more. By the runbook, the
// readers move to a new topic with that number.
func morePartitions() disaster {
	const added = 2
	return disaster{
		name: "more partitions",
		goBack: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			count := len(d.ends(ctx, t)) + added
			d.inKafka(t, func(client *kafka.Client) {
				topic := kafka.TopicPartitionsConfig{Name: d.topic, Count: int32(count)}
				created, err := client.CreatePartitions(ctx, &kafka.CreatePartitionsRequest{Topics: []kafka.TopicPartitionsConfig{topic}})
				require.NoError(t, err)
				require.NoError(t, created.Errors[d.topic])
			})
			restart := d.stop(ctx, identity.Events)
			require.NoError(t, restart())
			sleep(ctx, behind)
		},
		recover: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			count := len(d.ends(ctx, t))
			startEvents, startWebhook := d.stop(ctx, identity.Events), d.stop(ctx, identity.Webhook)
			d.follow(ctx, t, "kafka-lost", "GiftingReaderBlocked", "program events forget-topic", "program webhook forget-topic")
			d.topic += "-moved"
			for _, i := range append(d.of(identity.Events), d.of(identity.Webhook)...) {
				i.env = append(i.env, "GIFTING_KAFKA_TOPIC="+d.topic, "GIFTING_KAFKA_PARTITIONS="+strconv.Itoa(count))
			}
			require.NoError(t, startEvents())
			require.NoError(t, startWebhook())
		},
		after: redriveFindsNothing,
	}
}
