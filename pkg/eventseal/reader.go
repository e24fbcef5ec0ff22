package eventseal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// ErrUnreadable means that a sealed member does not open. Its cause is wrapped too: seal.ErrNoKey or seal.ErrBroken.
var ErrUnreadable = errors.New("event cannot be opened")

// Causes of events that do not open.
const (
	missingKey = "missing_key"
	broken     = "broken"
)

// Reader opens members of events and counts those that do not open. A nil reader passes only events without sealed members.
type Reader struct {
	ring       *seal.Ring
	unreadable metric.Int64Counter
	log        *slog.Logger
	// logged is when the last line was logged, in seconds since 1970.
	logged atomic.Int64
}

// NewReader makes a reader.
func NewReader(keys Keys, tel *telemetry.Telemetry) (*Reader, error) {
	ring, err := keys.Parse()
	if err != nil {
		return nil, err
	}
	unreadable, err := tel.Meters.Meter("github.com/partnergifting/platform/pkg/eventseal").Int64Counter("gifting.events.unreadable",
		metric.WithDescription("Attempts to open an event that failed, by cause: its key is missing in the ring, or the value is broken."))
	if err != nil {
		return nil, fmt.Errorf("metric of unreadable events: %w", err)
	}
	r := &Reader{ring: ring, unreadable: unreadable, log: tel.Logger}
	// Each series exists before its first event, which a rate would otherwise miss.
	for _, cause := range []string{missingKey, broken} {
		r.count(context.Background(), cause, 0)
	}
	return r, nil
}

func (r *Reader) count(ctx context.Context, cause string, n int64) {
	r.unreadable.Add(ctx, n, metric.WithAttributes(attribute.String("cause", cause)))
}

// Open returns the event's data, or its envelope, with all members as they were before Seal. It fails with ErrUnreadable.
func (r *Reader) Open(ctx context.Context, at Place, text []byte) ([]byte, error) {
	var ring *seal.Ring
	if r != nil {
		ring = r.ring
	}
	opened, err := openMembers(ring, at, text)
	if err == nil {
		return opened, nil
	}
	if r != nil {
		r.report(ctx, at, err)
	}
	return nil, fmt.Errorf("%w: event %s: %w", ErrUnreadable, at.EventID, err)
}

// report counts the event, and logs one line a second at most: without its key every event is unreadable.
func (r *Reader) report(ctx context.Context, at Place, err error) {
	cause := broken
	if errors.Is(err, seal.ErrNoKey) {
		cause = missingKey
	}
	r.count(ctx, cause, 1)
	if now, last := time.Now().Unix(), r.logged.Load(); now > last && r.logged.CompareAndSwap(last, now) {
		r.log.ErrorContext(ctx, "event cannot be opened, it waits", "event_id", at.EventID, "tenant_id", at.TenantID, "error", err)
	}
}
