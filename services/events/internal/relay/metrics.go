package relay

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"
)

// metrics of the relay. Only the leader knows an age; the others report that they do not lead.
type metrics struct {
	published, failures metric.Int64Counter

	lock    sync.Mutex
	leading bool
	// waiting says whether the last read found rows; age was the oldest one's at readAt. Rows that
	// cannot be published or read any more go on growing older.
	waiting bool
	age     time.Duration
	readAt  time.Time
}

func newMetrics(meters metric.MeterProvider) (*metrics, error) {
	m := &metrics{}
	meter := meters.Meter("events/relay")
	var errs [5]error
	m.published, errs[0] = meter.Int64Counter("gifting.relay.published",
		metric.WithDescription("Changes published to Kafka, duplicates included."))
	m.failures, errs[1] = meter.Int64Counter("gifting.relay.failures",
		metric.WithDescription("Rounds that failed because a source or Kafka did not answer."))
	age, err := meter.Float64ObservableGauge("gifting.relay.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest change that is not published."))
	errs[2] = err
	leads, err := meter.Int64ObservableGauge("gifting.relay.leads",
		metric.WithDescription("1 while this process leads."))
	errs[3] = err
	_, errs[4] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		seconds, leading := m.state(time.Now())
		if leading {
			o.ObserveFloat64(age, seconds)
			o.ObserveInt64(leads, 1)
			return nil
		}
		o.ObserveInt64(leads, 0)
		return nil
	}, age, leads)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("metrics of the relay: %w", err)
	}
	return m, nil
}

func (m *metrics) lead(leading bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.leading, m.waiting = leading, false
}

// observe notes the age of the oldest row by the sources' clock.
func (m *metrics) observe(now time.Time, reads [][]row) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.waiting, m.age, m.readAt = false, 0, time.Now()
	for _, rows := range reads {
		if len(rows) > 0 {
			m.waiting = true
			m.age = max(m.age, now.Sub(rows[0].recordedAt))
		}
	}
}

func (m *metrics) state(now time.Time) (seconds float64, leading bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	if !m.waiting {
		return 0, m.leading
	}
	return (m.age + now.Sub(m.readAt)).Seconds(), m.leading
}
