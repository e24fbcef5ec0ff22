package relay

import (
	"context"
	"sync/atomic"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Topic publishes to a topic that it creates on first use, so the relay can start before Kafka. It is safe for concurrent use.
type Topic struct {
	cfg        kafka.Config
	name       string
	partitions int
	producer   *kafka.Producer
	exists     atomic.Bool
}

// NewTopic connects to nothing before the first Publish.
func NewTopic(cfg kafka.Config, name string, partitions int, tel *telemetry.Telemetry) (*Topic, error) {
	producer, err := kafka.NewProducer(cfg, name, tel)
	return &Topic{cfg: cfg, name: name, partitions: partitions, producer: producer}, err
}

// Publish implements Publisher.
func (t *Topic) Publish(ctx context.Context, msgs []kafka.Message) error {
	if err := t.Ensure(ctx); err != nil {
		return err
	}
	return t.producer.Publish(ctx, msgs)
}

// Ensure creates the topic if it is missing.
func (t *Topic) Ensure(ctx context.Context) error {
	if t.exists.Load() {
		return nil
	}
	if err := kafka.EnsureTopic(ctx, t.cfg.Brokers, t.name, t.partitions); err != nil {
		return err
	}
	t.exists.Store(true)
	return nil
}

// Close ends the producer.
func (t *Topic) Close() error { return t.producer.Close() }
