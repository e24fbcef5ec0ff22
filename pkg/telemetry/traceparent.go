package telemetry

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// traceParent is the header of the W3C trace context. tracestate is not used: the platform adds nothing to it, and it may hold
// any text.
const traceParent = "traceparent"

// TraceParent is the span of ctx in the form of the W3C header, or the empty string.
func TraceParent(ctx context.Context) string {
	c := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, c)
	return c[traceParent]
}

// ParseTraceParent reads the output of TraceParent. For any other text the result is not valid.
func ParseTraceParent(text string) trace.SpanContext {
	c := propagation.MapCarrier{traceParent: text}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), c))
}

const (
	// sampleAge is how old a sample may be, so that several scrapers share one query.
	sampleAge = 10 * time.Second
	// minAgeFactor bounds the cost of a slow query: a sample is kept for at least this many times the duration of its query.
	minAgeFactor = 20
	// sampleTimeout bounds how long a scrape waits for a sample.
	sampleTimeout = 2 * time.Second
)

// Sample is the result of a query for gauges. It is read when a scraper asks, at most every ten seconds, and less often if that
// takes long. If it cannot be read, the gauges are absent instead of wrong.
type Sample[T any] struct {
	read func(ctx context.Context) (T, error)
	now  func() time.Time
	log  *slog.Logger

	lock  sync.Mutex
	next  time.Time
	value T
	known bool
}

// NewSample makes a sample that read fills.
func NewSample[T any](read func(ctx context.Context) (T, error), now func() time.Time, log *slog.Logger) *Sample[T] {
	return &Sample[T]{read: read, now: now, log: log}
}

// Get returns the sample; ok is false while there is none.
func (s *Sample[T]) Get(ctx context.Context) (value T, ok bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if now := s.now(); !now.Before(s.next) {
		s.refresh(ctx)
		ended := s.now()
		s.next = ended.Add(max(sampleAge-ended.Sub(now), minAgeFactor*ended.Sub(now)))
	}
	return s.value, s.known
}

func (s *Sample[T]) refresh(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	value, err := s.read(ctx)
	if err != nil {
		s.log.WarnContext(ctx, "cannot read the value of a gauge, leaving it out", "error", err)
	}
	s.value, s.known = value, err == nil
}
