package seal

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// ErrEventUnreadable means that a sealed member does not open. Its cause is wrapped too: ErrNoKey or ErrBroken.
var ErrEventUnreadable = errors.New("event cannot be opened")

// Causes of events that do not open.
const (
	missingKey = "missing_key"
	broken     = "broken"
)

// EventKeys is the setting of programs that open events.
type EventKeys struct {
	Ring string `env:"EVENT_KEYS,required" secret:"true" doc:"Key ring of the sealed members of events, claim URLs and texts of messages: id:base64-of-32-bytes, separated by commas; the first is used for new events. Must be the same in orders, personal-links, events and webhook, except while it is rotated."`
}

// Validate implements the check of package settings.
func (k EventKeys) Validate() error {
	_, err := ParseRing(k.Ring)
	return settings.Invalid("EVENT_KEYS", err)
}

// Parse returns the ring.
func (k EventKeys) Parse() (*Ring, error) {
	ring, err := ParseRing(k.Ring)
	if err != nil {
		return nil, fmt.Errorf("event keys: %w", err)
	}
	return ring, nil
}

// EventWriter seals members of new events.
type EventWriter struct {
	ring *Ring
}

// NewEventWriter makes a writer that seals with the first key of the ring.
func NewEventWriter(ring *Ring) *EventWriter { return &EventWriter{ring: ring} }

// Seal returns the event's data with the member sealed. The data must be JSON without spaces between tokens, with the member as a
// string.
func (w *EventWriter) Seal(ref EventRef, data []byte, m Member) ([]byte, error) {
	return sealMember(w.ring, ref, data, m)
}

// EventReader opens members of events and counts those that do not open. A nil reader passes only events without sealed members.
type EventReader struct {
	ring       *Ring
	unreadable metric.Int64Counter
	log        *slog.Logger
	// logged is when the last line was logged, in seconds since 1970.
	logged atomic.Int64
}

// NewEventReader makes a reader.
func NewEventReader(keys EventKeys, tel *telemetry.Telemetry) (*EventReader, error) {
	ring, err := keys.Parse()
	if err != nil {
		return nil, err
	}
	unreadable, err := tel.Meters.Meter("github.com/partnergifting/platform/pkg/seal").Int64Counter("gifting.events.unreadable",
		metric.WithDescription("Attempts to open an event that failed, "+
			"by cause: its key is missing in the ring, or the value is broken."))
	if err != nil {
		return nil, fmt.Errorf("metric of unreadable events: %w", err)
	}
	r := &EventReader{ring: ring, unreadable: unreadable, log: tel.Logger}
	// Each series exists before its first event, which a rate would otherwise miss.
	for _, cause := range []string{missingKey, broken} {
		r.count(context.Background(), cause, 0)
	}
	return r, nil
}

func (r *EventReader) count(ctx context.Context, cause string, n int64) {
	r.unreadable.Add(ctx, n, metric.WithAttributes(attribute.String("cause", cause)))
}

// Open returns the event's data, or its envelope, with all members as they were before Seal. It fails with ErrEventUnreadable.
func (r *EventReader) Open(ctx context.Context, ref EventRef, text []byte) ([]byte, error) {
	var ring *Ring
	if r != nil {
		ring = r.ring
	}
	opened, err := openMembers(ring, ref, text)
	if err == nil {
		return opened, nil
	}
	if r != nil {
		r.report(ctx, ref, err)
	}
	return nil, fmt.Errorf("%w: event %s: %w", ErrEventUnreadable, ref.EventID, err)
}

// report counts the event, and logs one line a second at most: without its key every event is unreadable.
func (r *EventReader) report(ctx context.Context, ref EventRef, err error) {
	cause := broken
	if errors.Is(err, ErrNoKey) {
		cause = missingKey
	}
	r.count(ctx, cause, 1)
	if now, last := time.Now().Unix(), r.logged.Load(); now > last && r.logged.CompareAndSwap(last, now) {
		r.log.ErrorContext(ctx, "event cannot be opened, it waits", "event_id", ref.EventID, "tenant_id", ref.TenantID, "error", err)
	}
}
