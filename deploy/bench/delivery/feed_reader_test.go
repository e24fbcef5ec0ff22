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
	// seen holds when each order's event was answered.
	seen map[string]time.Time
}

// poll asks for what is new until ctx ends.
func (f *feedReader) poll(ctx context.Context) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		if err := f.ask(f.as); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

func (f *feedReader) note(order string, at time.Time) {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.seen[order] = at
}

func (f *feedReader) seenUntilNow() map[string]time.Time {
	f.lock.Lock()
	defer f.lock.Unlock()
	return maps.Clone(f.seen)
}

// has says whether every measured change has been seen.
func (f *feedReader) has(w *writer) bool {
	seen := f.seenUntilNow()
	for id := range w.answered {
		if _, found := seen[id]; !found {
			return false
		}
	}
	return true
}
