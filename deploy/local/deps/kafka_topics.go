package deps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
)

// Topic is a topic that should exist.
type Topic struct {
	Name       string
	Partitions int
}

var errPartitions = errors.New("topic has another number of partitions")

// CreateTopics creates what is missing of the topics and returns when every partition has a leader. A topic that exists
// with another number of partitions is an error, because a key would not find the partition it had.
func CreateTopics(ctx context.Context, brokers string, topics ...Topic) error {
	transport := &kafka.Transport{MetadataTTL: time.Second}
	defer transport.CloseIdleConnections()
	client := &kafka.Client{Addr: kafka.TCP(strings.Split(brokers, ",")...), Transport: transport}

	request := &kafka.CreateTopicsRequest{}
	for _, topic := range topics {
		request.Topics = append(request.Topics, kafka.TopicConfig{
			Topic:             topic.Name,
			NumPartitions:     topic.Partitions,
			ReplicationFactor: -1, // the broker's default
		})
	}
	response, err := client.CreateTopics(ctx, request)
	if err != nil {
		return fmt.Errorf("create topics: %w", err)
	}
	for name, err := range response.Errors {
		if err != nil && !errors.Is(err, kafka.TopicAlreadyExists) {
			return fmt.Errorf("create topic %s: %w", name, err)
		}
	}
	return untilLed(ctx, client, topics)
}

// untilLed waits for the brokers to agree about the topics: a broker learns of a new topic shortly after its creation.
func untilLed(ctx context.Context, client *kafka.Client, topics []Topic) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		waiting, err := firstUnled(ctx, client, topics)
		if err != nil || waiting == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("topic %s has no leader: %w", waiting, ctx.Err())
		case <-ticker.C:
		}
	}
}

// firstUnled names a topic that cannot be used yet.
func firstUnled(ctx context.Context, client *kafka.Client, topics []Topic) (string, error) {
	names := make([]string, 0, len(topics))
	for _, topic := range topics {
		names = append(names, topic.Name)
	}
	metadata, err := client.Metadata(ctx, &kafka.MetadataRequest{Topics: names})
	if err != nil {
		return "", fmt.Errorf("read topics: %w", err)
	}
	found := make(map[string]kafka.Topic, len(metadata.Topics))
	for _, topic := range metadata.Topics {
		found[topic.Name] = topic
	}
	for _, topic := range topics {
		have := found[topic.Name]
		if !led(have) {
			return topic.Name, nil
		}
		if len(have.Partitions) != topic.Partitions {
			return "", fmt.Errorf("%w: %s has %d, wanted %d", errPartitions, topic.Name, len(have.Partitions), topic.Partitions)
		}
	}
	return "", nil
}

func led(topic kafka.Topic) bool {
	if topic.Error != nil || len(topic.Partitions) == 0 {
		return false
	}
	for _, partition := range topic.Partitions {
		if partition.Error != nil || partition.Leader.Host == "" {
			return false
		}
	}
	return true
}
