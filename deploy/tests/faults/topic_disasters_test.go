//go:build faults

package faults_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// weakTopic gives the topic settings with which it may lose changes. An instance of production that starts now must refuse it;
// others say so.
func weakTopic() disaster {
	const setting = "unclean.leader.election.enable"
	weaker := func(ctx context.Context, t *testing.T, d *drill) bool {
		t.Helper()
		weak := false
		for _, i := range d.of(identity.Events) {
			for _, is := range i.metric(ctx, t, "gifting_kafka_topic_weaker{", `setting="`+setting+`"`) {
				weak = weak || is == 1
			}
		}
		return weak
	}
	restart := func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		start := d.stop(ctx, identity.Events)
		require.NoError(t, start())
		d.awaitReaders(ctx, t)
	}
	return disaster{
		name: "topic made weaker",
		prepare: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			require.False(t, weaker(ctx, t, d))
		},
		goBack: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.alterTopic(ctx, t, setting, "true")
			restart(ctx, t, d)
			d.require(weaker(ctx, t, d), loss, d.prepared, time.Now(), "no instance says that %s is weaker", setting)
			output := d.startInProduction(ctx, t)
			refused := strings.Contains(output, "the topic may lose messages") && strings.Contains(output, setting)
			d.require(refused, loss, d.prepared, time.Now(),
				"an instance of production does not refuse the topic:\n%s", output)
		},
		recover: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.alterTopic(ctx, t, setting, "false")
			restart(ctx, t, d)
			d.require(!weaker(ctx, t, d), loss, d.prepared, time.Now(), "%s is still weaker", setting)
		},
		after: redriveFindsNothing,
	}
}

func (d *drill) alterTopic(ctx context.Context, t *testing.T, setting, value string) {
	t.Helper()
	d.inKafka(t, func(client *kafka.Client) {
		altered, err := client.IncrementalAlterConfigs(ctx, &kafka.IncrementalAlterConfigsRequest{
			Resources: []kafka.IncrementalAlterConfigsRequestResource{{
				ResourceType: kafka.ResourceTypeTopic, ResourceName: d.topic,
				Configs: []kafka.IncrementalAlterConfigsRequestConfig{
					{Name: setting, Value: value, ConfigOperation: kafka.ConfigOperationSet},
				},
			}},
		})
		require.NoError(t, err)
		for _, resource := range altered.Resources {
			require.NoError(t, resource.Error)
		}
	})
}

// startInProduction starts a third instance of events, in the environment production, and returns what it writes until it ends.
func (d *drill) startInProduction(ctx context.Context, t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, catchUp)
	defer cancel()
	i := d.of(identity.Events)[0]
	command := exec.CommandContext(ctx, i.path, "serve")
	command.Env = append(slices.Clone(i.env), "GIFTING_ENVIRONMENT=production", "GIFTING_KAFKA_REPLICATION=1",
		"GIFTING_GRPC_ADDR=127.0.0.1:0", "GIFTING_METRICS_ADDR=127.0.0.1:0")
	output, err := command.CombinedOutput()
	d.require(err != nil && ctx.Err() == nil, loss, d.prepared, time.Now(), "an instance of production serves with a weak topic")
	return string(output)
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
