package privacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	// eventsWait is how long each step of an attempt waits: for events to be stored, which takes some seconds, for deliveries that are
	// being sent, and for a service that reads all events of a tenant.
	eventsWait = 10 * time.Second
	eventsPoll = 100 * time.Millisecond
)

var errEvents = errors.New("events are on their way")

// eraseEvents erases the events of the records, once all of them are stored: one that is stored later would have what was erased. The
// records are erased, so a later event of theirs has nothing of it. Then the erasure is complete.
func (c *Coordinator) eraseEvents(ctx context.Context, r store.PersonRequest, orderIDs []string) error {
	remainders := map[string]time.Duration{"backups": c.deps.Backups}
	for links := range slices.Chunk(r.LinkIDs, maxRecords) {
		if err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
			found, err := c.deps.Links.FindPersonRecords(ctx, &privacyv1.FindPersonRecordsRequest{TenantId: r.TenantID, PersonalLinkIds: links})
			return found.GetUnpublished() == 0, err
		}); err != nil {
			return fmt.Errorf("events of links: %w", err)
		}
	}
	for orders := range slices.Chunk(orderIDs, maxRecords) {
		if err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
			found, err := c.deps.Orders.FindPersonRecords(ctx, &privacyv1.FindPersonRecordsRequest{TenantId: r.TenantID, OrderIds: orders})
			return found.GetUnpublished() == 0, err
		}); err != nil {
			return fmt.Errorf("events of orders: %w", err)
		}
	}
	for ids := range slices.Chunk(slices.Concat(r.LinkIDs, orderIDs), maxRecords) {
		for _, holder := range c.deps.Events {
			if err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
				erased, err := holder.EraseRecordEvents(ctx, &privacyv1.EraseRecordEventsRequest{TenantId: r.TenantID, RecordIds: ids})
				for _, left := range erased.GetRemainders() {
					remainders[left.GetPlace()] = left.GetKept().AsDuration()
				}
				return erased.GetDone(), err
			}); err != nil {
				return fmt.Errorf("erase events: %w", err)
			}
		}
	}
	return c.deps.Store.CompleteErasure(context.WithoutCancel(ctx), r.TenantID, r.ID, remainders)
}

// waitUntil repeats a call until it is done, for eventsWait at most.
func waitUntil(ctx context.Context, call func(ctx context.Context) (done bool, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, eventsWait)
	defer cancel()
	ticker := time.NewTicker(eventsPoll)
	defer ticker.Stop()
	for {
		if done, err := call(ctx); err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return errEvents
		case <-ticker.C:
		}
	}
}
