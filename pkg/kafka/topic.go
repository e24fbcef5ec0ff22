package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"github.com/partnergifting/platform/pkg/telemetry"
)

// EnsureTopic creates the topic if it is missing and returns when every partition can be written. An existing topic is not
// changed, whatever its settings and number of partitions, so a program without the right to create topics may call it.
func EnsureTopic(ctx context.Context, cfg Config, topic TopicSettings) error {
	cluster, err := newCluster(cfg, telemetry.Discard())
	if err != nil {
		return err
	}
	inspector := cluster.inspector(topic.Name)
	defer inspector.Close()
	inspector.client.Timeout = writeTimeout
	if _, err = inspector.partitions(ctx); !IsMissing(err) {
		return err
	}
	res, err := inspector.client.CreateTopics(ctx, &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{topic.creation()}})
	if err == nil {
		err = res.Errors[topic.Name]
	}
	// Of two programs that start concurrently, the second finds the topic.
	if err != nil && !errors.Is(err, kafkago.TopicAlreadyExists) {
		return fmt.Errorf("kafka: create topic %s: %w", topic.Name, err)
	}
	return inspector.awaitLeaders(ctx)
}

// IsMissing reports whether an error of this package means that the topic does not exist.
func IsMissing(err error) bool { return errors.Is(err, kafkago.UnknownTopicOrPartition) }

// awaitLeaders returns when each partition of a new topic has a leader that knows it: brokers learn of a new topic with a
// delay.
func (i *Inspector) awaitLeaders(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, leaderPatience)
	defer cancel()
	for {
		_, err := i.Spans(ctx) // Only a leader knows the offsets of a partition.
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("kafka: topic %s has no leaders: %w", i.topic, errors.Join(err, ctx.Err()))
		case <-time.After(leaderPoll):
		}
	}
}

const (
	// leaderPoll is how often the leaders of a new topic are looked up.
	leaderPoll = 20 * time.Millisecond
	// leaderPatience is when to give up on them.
	leaderPatience = 30 * time.Second
)

const (
	// remindInterval is how often a consumer that waits for its topic says why.
	remindInterval = time.Minute
	// topicPoll is how often it looks for it.
	topicPoll = 250 * time.Millisecond
	// topicInterval is how often it looks whether the topic that it reads was replaced.
	topicInterval = 5 * time.Second
	// After maxMissing lookups without the topic it stops reading: a broker that has just started may not know the topic yet. After
	// maxFailed that fail it stops too: an instance that does not reach Kafka must leave the partitions to others.
	maxMissing, maxFailed = 2, 3
)

// awaitTopic returns the number of partitions when the topic exists and that number is accepted; false when ctx ends first.
func (c *Consumer) awaitTopic(ctx context.Context) (count int, ok bool) {
	defer c.refused.Store(0)
	var logged time.Time
	for ctx.Err() == nil {
		ids, err := c.checks.partitions(ctx)
		if err == nil && c.opts.CheckPartitions != nil {
			err = c.opts.CheckPartitions(ctx, len(ids))
		}
		if err == nil {
			return len(ids), true
		}
		level, text := slog.LevelWarn, "the topic cannot be read yet, waiting for it"
		if errors.Is(err, ErrPartitionsChanged) {
			level, text = slog.LevelError, "nothing is read before the number of partitions is accepted"
			c.refused.Store(int64(len(ids)))
		}
		if ctx.Err() == nil && time.Since(logged) >= remindInterval {
			c.log.Log(ctx, level, text, "error", err)
			logged = time.Now()
		}
		wait(ctx, topicPoll)
	}
	return 0, false
}

// awaitOtherTopic returns when the topic is gone, has another number of partitions than count or cannot be looked up, or ctx ends.
func (c *Consumer) awaitOtherTopic(ctx context.Context, count int) {
	for missing, failed := 0, 0; missing < maxMissing && failed < maxFailed && ctx.Err() == nil; {
		wait(ctx, topicInterval)
		ids, err := c.checks.partitions(ctx)
		switch {
		case err == nil && len(ids) != count:
			return
		case err == nil:
			missing, failed = 0, 0
		case IsMissing(err):
			missing++
		default:
			failed++
		}
	}
}

// partitionIDs returns the ids of the topic's partitions in ascending order.
func partitionIDs(ctx context.Context, client *kafkago.Client, topic string) ([]int, error) {
	res, err := client.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{topic}})
	if err != nil {
		return nil, err
	}
	if len(res.Topics) == 0 || res.Topics[0].Name != topic {
		return nil, kafkago.UnknownTopicOrPartition
	}
	found := res.Topics[0]
	if found.Error != nil {
		return nil, found.Error
	}
	if len(found.Partitions) == 0 {
		return nil, kafkago.LeaderNotAvailable
	}
	ids := make([]int, len(found.Partitions))
	for i, p := range found.Partitions {
		ids[i] = p.ID
	}
	return ids, nil
}
