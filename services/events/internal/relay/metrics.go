package relay

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// metrics of the relay. Only the leader reports ages; the others report that they do not lead.
type metrics struct {
	published, failures metric.Int64Counter

	lock    sync.Mutex
	leading bool
	// oldest is the oldest row of each source at the last read.
	oldest []oldestRow
	readAt time.Time
}

// oldestRow is the age of a source's oldest row. It grows until the next read, because the row may be one that cannot be read
// or published.
type oldestRow struct {
	source metric.MeasurementOption
	exists bool
	age    time.Duration
}

func newMetrics(ctx context.Context, meters metric.MeterProvider, sources []Source) (*metrics, error) {
	m := &metrics{}
	for _, s := range sources {
		label := metric.WithAttributeSet(attribute.NewSet(attribute.String("source", s.Name)))
		m.oldest = append(m.oldest, oldestRow{source: label})
	}
	meter := meters.Meter("github.com/partnergifting/platform/services/events/relay")
	var err error
	m.published, err = meter.Int64Counter("gifting.relay.published",
		metric.WithDescription("Changes published to Kafka, duplicates included."))
	if err != nil {
		return nil, err
	}
	m.failures, err = meter.Int64Counter("gifting.relay.failures",
		metric.WithDescription("Batches that failed because a source or Kafka did not answer."))
	if err != nil {
		return nil, err
	}
	age, err := meter.Float64ObservableGauge("gifting.relay.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest change of a source that is not published."))
	if err != nil {
		return nil, err
	}
	leads, err := meter.Int64ObservableGauge("gifting.relay.leads",
		metric.WithDescription("1 while this process leads."))
	if err != nil {
		return nil, err
	}
	_, err = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		m.report(time.Now(), o, age, leads)
		return nil
	}, age, leads)
	m.published.Add(ctx, 0)
	m.failures.Add(ctx, 0)
	return m, err
}

func (m *metrics) lead(leading bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.leading = leading
	for i := range m.oldest {
		m.oldest[i].exists = false
	}
}

// observe records the age of each source's oldest row by the sources' clock.
func (m *metrics) observe(now time.Time, reads [][]row) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.readAt = time.Now()
	for i, rows := range reads {
		m.oldest[i].exists = len(rows) > 0
		if m.oldest[i].exists {
			m.oldest[i].age = now.Sub(rows[0].recordedAt)
		}
	}
}

func (m *metrics) report(now time.Time, o metric.Observer, age metric.Float64Observable, leads metric.Int64Observable) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if !m.leading {
		o.ObserveInt64(leads, 0)
		return
	}
	o.ObserveInt64(leads, 1)
	for _, row := range m.oldest {
		var seconds float64
		if row.exists {
			seconds = max(0, (row.age + now.Sub(m.readAt)).Seconds())
		}
		o.ObserveFloat64(age, seconds, row.source)
	}
}
