package relay

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// Topic publishes to a topic that it creates on first use, so the relay can start before Kafka. It is safe for concurrent use.
type Topic struct {
	// Inspector looks up messages of the topic.
	*kafka.Inspector

	cfg               kafka.Config
	settings          TopicSettings
	producer          *kafka.Producer
	log               *slog.Logger
	exists            atomic.Bool
	partitionsChecked atomic.Bool
	tried             atomic.Bool
	report            atomic.Pointer[kafka.TopicReport]
	// maxAge is that of the last report, also after a check that failed.
	maxAge atomic.Int64
}

// TopicSettings say how the topic must be.
type TopicSettings struct {
	kafka.TopicSettings

	// Required refuses a topic that is weaker. Otherwise it is logged and measured.
	Required bool
	// CheckPartitions refuses another number of partitions than the feed was written from: events of a tenant would be in
	// another partition than its earlier ones.
	CheckPartitions func(ctx context.Context, count int) error
}

// NewTopic makes a topic. It does not connect before the first Publish.
func NewTopic(cfg kafka.Config, settings TopicSettings, tel *telemetry.Telemetry) (*Topic, error) {
	producer, err := kafka.NewProducer(cfg, settings.Name, tel)
	if err != nil {
		return nil, err
	}
	inspector, err := kafka.NewInspector(cfg, settings.Name, tel)
	if err != nil {
		return nil, err
	}
	t := &Topic{Inspector: inspector, cfg: cfg, settings: settings, producer: producer, log: tel.Logger}
	return t, t.measure(tel.Meters)
}

// Publish implements Publisher.
func (t *Topic) Publish(ctx context.Context, msgs []kafka.Message) error {
	err := t.Ensure(ctx)
	if err == nil {
		err = t.checkPartitions(ctx)
	}
	if err == nil {
		err = t.producer.Publish(ctx, msgs)
	}
	t.noteMissing(err)
	return err
}

// noteMissing lets the topic be created again if the error says that it was deleted, or Kafka was replaced by an empty one.
func (t *Topic) noteMissing(err error) {
	if kafka.IsMissing(err) {
		t.exists.Store(false)
		t.partitionsChecked.Store(false)
	}
}

// checkPartitions checks the number of partitions once: the producer refuses a later change itself.
func (t *Topic) checkPartitions(ctx context.Context) error {
	if t.partitionsChecked.Load() {
		return nil
	}
	count, err := t.producer.Partitions(ctx)
	if err != nil {
		return err
	}
	if err := t.settings.CheckPartitions(ctx, count); err != nil {
		return err
	}
	t.partitionsChecked.Store(true)
	return nil
}

// Group returns how far a consumer group has committed the topic, which it does after it has stored the messages.
func (t *Topic) Group(name string) Reader {
	return func(ctx context.Context) (map[int]int64, error) { return t.Committed(ctx, name) }
}

// Ensure creates the topic if it is missing, and checks its settings before it is first used.
func (t *Topic) Ensure(ctx context.Context) error {
	if t.exists.Load() {
		return nil
	}
	if err := kafka.EnsureTopic(ctx, t.cfg, t.settings.TopicSettings); err != nil {
		return err
	}
	if err := t.check(ctx); err != nil {
		if t.settings.Required {
			return err
		}
		t.log.WarnContext(ctx, weakTopic, "error", err)
	}
	t.exists.Store(true)
	return nil
}

const (
	weakTopic = "the topic of changes may lose messages"

	retryTopic   = time.Second
	lookForTopic = 5 * time.Second
	recheckTopic = 5 * time.Minute
)

// Run ensures the topic, returns an error if it is refused, and then looks for it until ctx ends. It creates the topic again if
// it is gone: without new changes nothing is published, but the relay may have to publish earlier ones again. It also checks the
// settings, which may change later. That is logged and measured and stops nothing.
func (t *Topic) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		err := t.Ensure(ctx)
		if errors.Is(err, kafka.ErrWeakTopic) {
			return err
		}
		t.tried.Store(true)
		if err == nil {
			break
		}
		pause(ctx, retryTopic, nil) // The relay and the feed log the error.
	}
	for checked := time.Now(); ; {
		pause(ctx, lookForTopic, nil)
		if ctx.Err() != nil {
			return nil
		}
		_, err := t.producer.Partitions(ctx)
		t.noteMissing(err)
		if err := t.Ensure(ctx); err != nil {
			t.log.WarnContext(ctx, "the topic of changes is gone and cannot be used yet, trying again", "error", err)
		}
		if time.Since(checked) >= recheckTopic {
			checked = time.Now()
			if err := t.check(ctx); err != nil {
				t.log.WarnContext(ctx, weakTopic, "error", err)
			}
		}
	}
}

var errNotChecked = errors.New("the topic of changes has not been checked")

// Ready returns an error until the topic was checked, or Kafka did not answer. Without it a rollout could replace the previous
// version, which works, by one that refuses the topic.
func (t *Topic) Ready(context.Context) error {
	if t.tried.Load() {
		return nil
	}
	return errNotChecked
}

func (t *Topic) check(ctx context.Context) error {
	report, err := kafka.CheckTopic(ctx, t.cfg, t.settings.TopicSettings)
	if err != nil {
		t.report.Store(nil) // What is not known is not measured.
		return err
	}
	t.report.Store(&report)
	t.maxAge.Store(int64(report.MaxAge))
	return report.Err()
}

// defaultSegment is the default of segment.ms. Kafka deletes only whole segments.
const defaultSegment = 7 * 24 * time.Hour

// MaxAge is the longest time that the topic may keep a message, by its settings as they were last read. Before that, it is the time
// of a topic that was made by the relay.
func (t *Topic) MaxAge() time.Duration {
	if age := time.Duration(t.maxAge.Load()); age > 0 {
		return age
	}
	return t.settings.Retention + defaultSegment
}

// measure reports the settings of the topic as they were last read.
func (t *Topic) measure(meters metric.MeterProvider) error {
	meter := meters.Meter(scope)
	weak, err1 := meter.Int64ObservableGauge("gifting.kafka.topic.weaker",
		metric.WithDescription("1 if the setting of the topic is weaker than required, so that messages may be lost."))
	maxAge, err2 := meter.Float64ObservableGauge("gifting.kafka.topic.max_age", metric.WithUnit("s"),
		metric.WithDescription("The longest time that the topic may keep a message."))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	_, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		report := t.report.Load()
		if report == nil {
			return nil
		}
		for _, s := range report.Settings {
			value := int64(0)
			if s.Weaker {
				value = 1
			}
			o.ObserveInt64(weak, value, metric.WithAttributes(attribute.String("setting", s.Setting)))
		}
		o.ObserveFloat64(maxAge, report.MaxAge.Seconds())
		return nil
	}, weak, maxAge)
	return err
}

// Close ends the connections.
func (t *Topic) Close() {
	t.Inspector.Close()
	t.producer.Close()
}
