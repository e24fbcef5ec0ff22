package sender

import (
	"context"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

const (
	// goneInterval is how often the sender looks for endpoints that are gone, by a search that also returns those that have
	// nothing due.
	goneInterval = 5 * time.Second
	// maxLookup is how many endpoints are looked up in one call: each may have up to 1000 brands, which are 38 KB.
	maxLookup = 200
	// maxDropped bounds how long a statement locks the rows that it drops.
	maxDropped = 1000
)

// dropGone drops the deliveries of pending endpoints whose keys are revoked or have no URL any more: otherwise they would wait
// for their next attempt, up to half a day. The deliveries were stored before the endpoints are looked up, so they are not of an
// endpoint that is set again afterwards. A key that the tenants service does not know is left to the attempts: its database
// may be about to be restored.
func (s *Sender) dropGone(ctx context.Context, found store.Discovery) error {
	for chunk := range slices.Chunk(found.Pending, maxLookup) {
		at, err := s.lookUp(ctx, postgres.Column(chunk, func(e store.Endpoint) int32 { return e.KeyID }))
		if err != nil {
			return err
		}
		for _, e := range chunk {
			if known, ok := at[e.KeyID]; !ok || !known.gone() {
				continue
			}
			if err := s.drop(ctx, e, found.StartedAt); err != nil {
				return err
			}
		}
	}
	return nil
}

// drop drops the deliveries of an endpoint that were stored until the given time, in batches.
func (s *Sender) drop(ctx context.Context, e store.Endpoint, storedUntil time.Time) error {
	var (
		since time.Time
		total int
	)
	err := daemon.InBatches(ctx, maxDropped, func(ctx context.Context, limit int) (n int, err error) {
		n, since, err = s.store.Drop(ctx, e, storedUntil, since, limit)
		total += n
		return n, err
	})
	if total > 0 {
		s.metrics.count(ctx, dropped, total)
		s.log.InfoContext(ctx, "dropped the deliveries of an endpoint that is gone", "key_id", e.KeyID, "deliveries", total)
	}
	return err
}
