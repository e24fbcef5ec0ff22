package rpc

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	// leastMessage is what the smallest message counts.
	leastMessage = 4 << 10
	// smallMessage is the size up to which a message may use the last quarter of the budget, so that large messages do not
	// refuse the usual calls and the health checks.
	smallMessage = 64 << 10
	reserved     = 4
	// refusedWait is how long a refused caller should wait.
	refusedWait = time.Second
)

// messages is the budget of a server: the bytes of the request messages that it receives, decodes and handles at once.
type messages struct {
	limit    int64
	refusals metric.Int64Counter

	mu   sync.Mutex
	held int64
}

func newMessages(limit int64, tel *telemetry.Telemetry) (*messages, error) {
	m, meter := &messages{limit: limit}, tel.Meters.Meter(scope)
	var err error
	m.refusals, err = meter.Int64Counter("gifting.rpc.refusals",
		metric.WithDescription("Calls refused because the server had too many bytes of request messages in flight."))
	if err != nil {
		return nil, fmt.Errorf("metric of refusals: %w", err)
	}
	m.refusals.Add(context.Background(), 0)
	_, err = meter.Int64ObservableGauge("gifting.rpc.messages", metric.WithUnit("By"),
		metric.WithDescription("Bytes of request messages in flight."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			m.mu.Lock()
			defer m.mu.Unlock()
			o.Observe(m.held)
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of messages: %w", err)
	}
	return m, nil
}

// reserve takes bytes from the budget, or returns service_unavailable. The client may retry it: another instance may have room.
func (m *messages) reserve(ctx context.Context, bytes int64) error {
	if m.take(bytes) {
		return nil
	}
	m.refusals.Add(ctx, 1)
	e := problem.New(problem.ServiceUnavailable, "Too many large messages are in flight.")
	e.RetryAfter = refusedWait
	return e
}

func (m *messages) take(bytes int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	limit := m.limit
	if bytes > smallMessage {
		limit -= limit / reserved
	}
	if m.held+bytes > limit {
		return false
	}
	m.held += bytes
	return true
}

func (m *messages) give(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.held -= bytes
}
