package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// metrics of the relay. Only the leader knows an age; the others report that they do not lead.
type metrics struct {
	published, failures metric.Int64Counter

	lock    sync.Mutex
	leading bool
	// sources are what the last read found in each.
	sources []waiting
	readAt  time.Time
}

// waiting says how old the oldest row of a source was, if there was one. Rows that cannot be published
// or read any more go on growing older.
type waiting struct {
	label metric.MeasurementOption
	some  bool
	age   time.Duration
}

func newMetrics(ctx context.Context, meters metric.MeterProvider, sources []Source) (*metrics, error) {
	m := &metrics{}
	for _, s := range sources {
		label := metric.WithAttributeSet(attribute.NewSet(attribute.String("source", s.Name)))
		m.sources = append(m.sources, waiting{label: label})
	}
	meter := meters.Meter("github.com/partnergifting/platform/services/events/relay")
	var errs [5]error
	m.published, errs[0] = meter.Int64Counter("gifting.relay.published",
		metric.WithDescription("Changes published to Kafka, duplicates included."))
	m.failures, errs[1] = meter.Int64Counter("gifting.relay.failures",
		metric.WithDescription("Rounds that failed because a source or Kafka did not answer."))
	age, err := meter.Float64ObservableGauge("gifting.relay.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest change of a source that is not published."))
	errs[2] = err
	leads, err := meter.Int64ObservableGauge("gifting.relay.leads",
		metric.WithDescription("1 while this process leads."))
	errs[3] = err
	_, errs[4] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		m.tell(time.Now(), o, age, leads)
		return nil
	}, age, leads)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("metrics of the relay: %w", err)
	}
	m.published.Add(ctx, 0)
	m.failures.Add(ctx, 0)
	return m, nil
}

func (m *metrics) lead(leading bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.leading = leading
	for i := range m.sources {
		m.sources[i].some = false
	}
}

// observe notes the age of each source's oldest row by the sources' clock.
func (m *metrics) observe(now time.Time, reads [][]row) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.readAt = time.Now()
	for i, rows := range reads {
		m.sources[i].some = len(rows) > 0
		if m.sources[i].some {
			m.sources[i].age = now.Sub(rows[0].recordedAt)
		}
	}
}

func (m *metrics) tell(now time.Time, o metric.Observer, age metric.Float64Observable, leads metric.Int64Observable) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if !m.leading {
		o.ObserveInt64(leads, 0)
		return
	}
	o.ObserveInt64(leads, 1)
	for _, s := range m.sources {
		var seconds float64
		if s.some {
			seconds = max(0, (s.age + now.Sub(m.readAt)).Seconds())
		}
		o.ObserveFloat64(age, seconds, s.label)
	}
}
