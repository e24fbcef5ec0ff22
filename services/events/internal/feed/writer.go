// Package feed writes changes from Kafka to the feed's table and maintains the table's partitions.
//
// The Writer is the handler of a Kafka consumer. It may receive a batch twice, or from a consumer that has lost its partition;
// the store makes both harmless. A message that cannot be decoded stops its partition, because skipping it would silently lose
// an event. What precedes it is appended, so that a person can skip only this message.
package feed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"go.opentelemetry.io/otel/metric"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/notices"
	"github.com/partnergifting/platform/services/events/internal/store"
)

const scope = "github.com/partnergifting/platform/services/events/feed"

// Writer appends the messages of the changes topic to the feed.
type Writer struct {
	store     *store.Store
	announcer *notices.Announcer
	retention func() time.Duration
	log       *slog.Logger
	delay     metric.Float64Histogram
}

// NewWriter makes a writer. retention returns how long the feed keeps events, with the lag of the retention clock.
func NewWriter(
	s *store.Store, announcer *notices.Announcer, retention func() time.Duration, tel *telemetry.Telemetry,
) (*Writer, error) {
	delay, err := tel.Meters.Meter(scope).Float64Histogram("gifting.feed.delay", metric.WithUnit("s"),
		metric.WithDescription("Time from recording a change until its event is in the feed."), telemetry.Delays())
	if err != nil {
		return nil, fmt.Errorf("metric of the feed: %w", err)
	}
	return &Writer{store: s, announcer: announcer, retention: retention, log: tel.Logger, delay: delay}, nil
}

// Observe registers the metric of the feed's epoch.
func Observe(s *store.Store, tel *telemetry.Telemetry) error {
	sample := telemetry.NewSample(s.Epoch, time.Now, tel.Logger)
	_, err := tel.Meters.Meter(scope).Int64ObservableGauge("gifting.feed.epoch",
		metric.WithDescription("Number of the feed's epoch. A new one begins when its database may have gone back to an earlier state."),
		metric.WithInt64Callback(func(ctx context.Context, o metric.Int64Observer) error {
			if number, ok := sample.Get(ctx); ok {
				o.Observe(number)
			}
			return nil
		}))
	if err != nil {
		return fmt.Errorf("metric of the feed's epoch: %w", err)
	}
	return nil
}

// Handle implements kafka.Handler.
func (w *Writer) Handle(ctx context.Context, partition int, msgs []kafka.Message) error {
	batch := store.Batch{Partition: partition, Retention: w.retention()}
	var invalid error
	for _, m := range msgs {
		c, err := decode(m)
		if err != nil {
			invalid = fmt.Errorf("message at offset %d: %w", m.Offset, err)
			break
		}
		batch.Changes, batch.LastTime = append(batch.Changes, c), m.Time
	}
	done, err := w.store.Append(ctx, batch)
	if err != nil {
		return err
	}
	// Also events that were known already: they may have been committed before a failure that kept them from being announced.
	w.announcer.Announce(postgres.Column(batch.Changes, func(c store.Change) *eventsv1.Change { return c.Change }))
	if done.Below > 0 {
		w.log.WarnContext(ctx, "events that Kafka has lost since were appended",
			"partition", partition, "offset", msgs[0].Offset, "events", done.Below)
	}
	for _, c := range batch.Changes {
		w.delay.Record(ctx, max(0, time.Since(c.GetRecordedAt().AsTime()).Seconds()))
	}
	return invalid
}

// Offsets are those of the store, for a consumer that becomes the writer of partitions. If the store has more than Kafka knows of,
// the former writer may have crashed before it announced what it had committed. The consumer asks again every few seconds in a
// quiet partition, so equal offsets must not wake all readers.
type Offsets struct {
	store.Offsets

	Announcer *notices.Announcer
}

// Stored implements kafka.Offsets.
func (o Offsets) Stored(ctx context.Context, partition int, reached int64) (kafka.Stored, error) {
	stored, err := o.Offsets.Stored(ctx, partition, reached)
	if err == nil && stored.Next != reached {
		o.Announcer.Missed()
	}
	return stored, err
}

// EventID returns the id of the event of a message, or nothing if it is not a change.
func EventID(m kafka.Message) string {
	var c eventsv1.Change
	if proto.Unmarshal(m.Value, &c) != nil {
		return ""
	}
	return c.GetEventId()
}

func decode(m kafka.Message) (store.Change, error) {
	c := store.Change{Offset: m.Offset, Change: &eventsv1.Change{}}
	if err := proto.Unmarshal(m.Value, c.Change); err != nil {
		return c, fmt.Errorf("decode change: %w", err)
	}
	for name, id := range map[string]string{
		"event_id": c.GetEventId(), "tenant_id": c.GetTenantId(), "brand_id": c.GetBrandId(), "subject_id": c.GetSubjectId(),
	} {
		if _, ok := fields.ParseUUID(id); !ok {
			return c, fmt.Errorf("decode change: %s is not a UUID", name)
		}
	}
	return c, nil
}

const (
	// daysAhead is how many days have a partition in advance, so that nothing waits at midnight and failures of the maintenance
	// do no harm for days.
	daysAhead           = 4
	maintenanceInterval = 30 * time.Minute
)

// Maintenance drops the partitions past retention and creates those of coming days. Any number of instances may run it.
func Maintenance(s *store.Store, clock *daemon.RetentionClock, keep time.Duration, tel *telemetry.Telemetry) daemon.Part {
	return clock.Every("feed maintenance", maintenanceInterval, tel, func(ctx context.Context, lag time.Duration) error {
		return maintain(ctx, s, keep+lag, tel.Logger)
	})
}

// maintain drops and creates partitions once. A day is dropped when its last moment is past retention. Dropping comes first and
// each is done although the other fails: on a full disk only dropping can succeed.
func maintain(ctx context.Context, s *store.Store, retention time.Duration, log *slog.Logger) error {
	dropped, err := s.DropOlder(ctx, retention)
	for _, day := range dropped {
		log.InfoContext(ctx, "dropped a day of the feed", "day", day.Format(time.DateOnly))
	}
	return errors.Join(err, s.EnsureDays(ctx, daysAhead))
}
