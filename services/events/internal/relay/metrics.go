package relay

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

const scope = "github.com/partnergifting/platform/services/events/relay"

// unreadAfter is when it is no longer known whether a source that had no rows still has none. It is as long as a read may take.
const unreadAfter = sourcesTimeout

// metrics of the relay. Only the leader reports ages, and only of sources that it could read: a source that cannot be read has no
// age, not the age zero. The others report that they do not lead.
type metrics struct {
	published, failures, lostTails metric.Int64Counter

	lock    sync.Mutex
	leading bool
	// sources are as of the last read, which is zero before the leader has read them all.
	sources []sourceState
	readAt  time.Time
}

// sourceState is what the last read of a source found.
type sourceState struct {
	label metric.MeasurementOption
	// age of the oldest row, if there is one. It grows until the next read, because the row may be one that cannot be read or
	// published.
	rows bool
	age  time.Duration
	// held is how many rows the watermark holds back.
	held int
	// ahead is how far the source's clock is ahead of the relay's.
	ahead time.Duration
}

// newMetrics also registers what is read at each scrape. unconfirmed is the age of the oldest change that is published and not
// confirmed.
func newMetrics(
	ctx context.Context, meters metric.MeterProvider, sources []Source, unconfirmed func() time.Duration,
) (*metrics, error) {
	m := &metrics{}
	for _, s := range sources {
		label := metric.WithAttributeSet(attribute.NewSet(attribute.String("source", s.Name)))
		m.sources = append(m.sources, sourceState{label: label})
	}
	meter := meters.Meter(scope)
	var err1, err2, err3 error
	m.published, err1 = meter.Int64Counter("gifting.relay.published",
		metric.WithDescription("Changes published to Kafka, duplicates included."))
	m.failures, err2 = meter.Int64Counter("gifting.relay.failures",
		metric.WithDescription("Batches and confirmations that failed, because a source, a reader or Kafka did not answer."))
	m.lostTails, err3 = meter.Int64Counter("gifting.relay.lost_tails",
		metric.WithDescription("Checks that found messages missing in Kafka that it had acknowledged."))
	waiting, err4 := meter.Float64ObservableGauge("gifting.relay.unconfirmed_age", metric.WithUnit("s"),
		metric.WithDescription("How long the oldest published change has waited for all readers to store it."))
	age, err5 := meter.Float64ObservableGauge("gifting.relay.oldest_age", metric.WithUnit("s"),
		metric.WithDescription("Age of the oldest change of a source that is not published."))
	held, err6 := meter.Int64ObservableGauge("gifting.relay.held",
		metric.WithDescription("Changes of a source beyond the watermark: recorded later than the relay may publish yet."))
	ahead, err7 := meter.Float64ObservableGauge("gifting.relay.clock_offset", metric.WithUnit("s"),
		metric.WithDescription("How far the clock of a source's server is ahead of the relay's."))
	leads, err8 := meter.Int64ObservableGauge("gifting.relay.leads",
		metric.WithDescription("1 if this process leads, otherwise 0."))
	if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8); err != nil {
		return nil, err
	}
	for _, counter := range []metric.Int64Counter{m.published, m.failures, m.lostTails} {
		counter.Add(ctx, 0) // The series exists before its first event.
	}
	_, err := meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		m.lock.Lock()
		defer m.lock.Unlock()
		if !m.leading {
			o.ObserveInt64(leads, 0)
			return nil
		}
		o.ObserveInt64(leads, 1)
		if m.readAt.IsZero() {
			return nil
		}
		o.ObserveFloat64(waiting, unconfirmed().Seconds())
		since := time.Since(m.readAt)
		for _, s := range m.sources {
			if s.rows || since < unreadAfter {
				o.ObserveFloat64(age, s.oldestAge(since), s.label)
			}
			if since < unreadAfter {
				o.ObserveInt64(held, int64(s.held), s.label)
				o.ObserveFloat64(ahead, s.ahead.Seconds(), s.label)
			}
		}
		return nil
	}, waiting, age, held, ahead, leads)
	return m, err
}

// oldestAge is the age of the oldest row, in seconds, some time after the read.
func (s sourceState) oldestAge(after time.Duration) float64 {
	if !s.rows {
		return 0
	}
	return max(0, (s.age + after).Seconds())
}

func (m *metrics) lead(leading bool) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.leading, m.readAt = leading, time.Time{}
}

// observe records what a batch has read, and then again what of it is left after it was published.
func (m *metrics) observe(now time.Time, b batch, published bool, clockOffsetOf func(*server) time.Duration) {
	m.lock.Lock()
	defer m.lock.Unlock()
	m.readAt = time.Now()
	for i, read := range b.readings {
		left := b.times[i]
		if published {
			left = left[b.published[i]:]
		}
		s := sourceState{
			label: m.sources[i].label, rows: len(left) > 0,
			held: len(read.rows) - b.published[i], ahead: clockOffsetOf(read.server),
		}
		if s.rows {
			s.age = now.Sub(left[0])
		}
		m.sources[i] = s
	}
}
