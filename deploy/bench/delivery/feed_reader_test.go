package delivery_test

import (
	"context"
	"maps"
	"sync"
	"time"

	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// feedReader polls the feed of a tenant.
type feedReader struct {
	events eventsv1.EventsServiceClient
	as     context.Context //nolint:containedctx // Carries the principal.
	after  *string

	lock sync.Mutex
	// seen holds when each order's event was returned.
	seen map[string]time.Time
}

// poll reads new events until ctx ends.
func (f *feedReader) poll(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err := f.readPage(f.as); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (f *feedReader) record(order string, at time.Time) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.seen[order] = at
}

func (f *feedReader) seenUntilNow() map[string]time.Time {
	f.lock.Lock()
	defer f.lock.Unlock()
	return maps.Clone(f.seen)
}

// has reports whether every measured change has been seen.
func (f *feedReader) has(w *writer) bool {
	seen := f.seenUntilNow()
	for id := range w.answered {
		if _, found := seen[id]; !found {
			return false
		}
	}
	return true
}
