//go:build faults

package faults_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
)

// behind is how long the webhook service does not read before Kafka loses messages, and again afterwards.
const behind = 2 * time.Second

// lostTail is an unclean election, or a broker that loses power with the only copy. Its newest messages are gone, some of which the
// webhook service has not read, and others get their offsets.
func lostTail() disaster {
	return disaster{
		name: "Kafka loses its newest messages",
		prepare: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.restores = append(d.restores, d.backUpTopic(ctx, t))
		},
		goBack: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			start := d.stop(ctx, identity.Webhook)
			sleep(ctx, behind)
			restoreAll(ctx, t, d)
			sleep(ctx, behind)
			require.NoError(t, start())
		},
		after: redriveFindsNothing,
	}
}

// backUpTopic copies the topic, in half of the cases with the offsets of the groups.
func (d *drill) backUpTopic(ctx context.Context, t *testing.T) restore {
	t.Helper()
	before, pattern := d.ends(ctx, t), d.topic+"-*"
	if d.turn%2 == 0 {
		d.printf("variant: the offsets of the groups are lost too")
		pattern = "*-[0-9]*"
	}
	copied := d.copyLogs(t, pattern)
	return func(ctx context.Context, t *testing.T) {
		t.Helper()
		require.Greater(t, sum(d.ends(ctx, t)), sum(before))
		require.NoError(t, d.kafka.end(ctx, syscall.SIGKILL))
		d.replaceLogs(t, copied)
		require.NoError(t, d.kafka.start(ctx))
	}
}

func sum(offsets map[int]int64) (total int64) {
	for _, offset := range offsets {
		total += offset
	}
	return total
}

// copyLogs copies the logs of partitions while the broker writes to them. The last batch of a copy may be cut off: the broker drops
// it when it starts. It makes the indexes anew.
func (d *drill) copyLogs(t *testing.T, pattern string) (copied string) {
	t.Helper()
	copied = t.TempDir()
	data := kafkaData(filepath.Dir(d.config.Dir))
	logs, err := filepath.Glob(filepath.Join(data, pattern))
	require.NoError(t, err)
	require.NotEmpty(t, logs)
	for _, log := range logs {
		if strings.HasPrefix(filepath.Base(log), "__cluster_metadata") {
			continue
		}
		to := filepath.Join(copied, filepath.Base(log))
		require.NoError(t, os.Mkdir(to, 0o700))
		for _, kind := range []string{"*.log", "leader-epoch-checkpoint", "partition.metadata"} {
			files, err := filepath.Glob(filepath.Join(log, kind))
			require.NoError(t, err)
			for _, file := range files {
				raw, err := os.ReadFile(file)
				require.NoError(t, err)
				require.NoError(t, os.WriteFile(filepath.Join(to, filepath.Base(file)), raw, 0o600))
			}
		}
	}
	return copied
}

func (d *drill) replaceLogs(t *testing.T, copied string) {
	t.Helper()
	data := kafkaData(filepath.Dir(d.config.Dir))
	logs, err := os.ReadDir(copied)
	require.NoError(t, err)
	for _, log := range logs {
		at := filepath.Join(data, log.Name())
		require.NoError(t, os.RemoveAll(at))
		require.NoError(t, os.CopyFS(at, os.DirFS(filepath.Join(copied, log.Name()))))
	}
}

// newTopic deletes the topic. It is made anew by hand or by the relay.
func newTopic() disaster {
	return disaster{
		name: "topic deleted and made anew",
		goBack: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			start := d.stop(ctx, identity.Webhook)
			sleep(ctx, behind)
			partitions := len(d.ends(ctx, t))
			d.deleteTopic(ctx, t)
			if d.turn%2 == 0 {
				d.printf("variant: the relay makes the topic")
			} else {
				d.createTopic(ctx, t, partitions)
			}
			sleep(ctx, behind)
			require.NoError(t, start())
		},
		after: redriveFindsNothing,
	}
}

func (d *drill) deleteTopic(ctx context.Context, t *testing.T) {
	t.Helper()
	d.inKafka(t, func(client *kafka.Client) {
		deleted, err := client.DeleteTopics(ctx, &kafka.DeleteTopicsRequest{Topics: []string{d.topic}})
		require.NoError(t, err)
		require.NoError(t, deleted.Errors[d.topic])
	})
}

// createTopic repeats the request until the broker has deleted the old topic.
func (d *drill) createTopic(ctx context.Context, t *testing.T, partitions int) {
	t.Helper()
	config := kafka.TopicConfig{Topic: d.topic, NumPartitions: partitions, ReplicationFactor: 1}
	d.inKafka(t, func(client *kafka.Client) {
		waitFor(catchUp, func() bool {
			created, err := client.CreateTopics(ctx, &kafka.CreateTopicsRequest{Topics: []kafka.TopicConfig{config}})
			return err == nil && (created.Errors[d.topic] == nil || errors.Is(created.Errors[d.topic], kafka.TopicAlreadyExists))
		})
	})
}

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
