package offboarding

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	// Interval is how often the worker looks for off-boardings that are due.
	Interval = time.Minute
	// checkEvery is how often an erased tenant is counted again, and one that waits for what is in flight: counting a large tenant
	// is slow.
	checkEvery = time.Hour
	// lease is longer than an attempt usually takes, also of a large tenant. Two workers at once do no harm.
	lease = 30 * time.Minute
	batch = 100
	// releaseTimeout bounds the release of one off-boarding, also while the service stops.
	releaseTimeout = 5 * time.Second
	// maxPasses over all services, until one finds nothing: what one service writes late may reach the next.
	maxPasses = 5
)

// Deps are what the worker works with.
type Deps struct {
	Store *store.Store
	// Own is the database of this service, which is erased last.
	Own tenants.Database
	// Holders returns the other services, of all cells: rows of a tenant may come back in a cell that it has left.
	Holders func(ctx context.Context) ([]Holder, error)
	Log     *slog.Logger
}

// Worker erases tenants. It is safe for concurrent use.
type Worker struct{ deps Deps }

// Work goes once through the off-boardings that are due. The retention clock lags behind the database's by lag. One tenant or
// service that fails does not keep the others waiting.
func (w *Worker) Work(ctx context.Context, lag time.Duration) error {
	var errs []error
	for {
		taken, err := w.deps.Store.TakeOffboardings(ctx, lease, batch, lag)
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		for _, o := range taken {
			after, err := w.advance(ctx, o, lag)
			if err != nil {
				errs, after = append(errs, fmt.Errorf("off-board tenant %s: %w", o.ID, err)), Interval
			}
			// Also if ctx has ended: another instance must not wait for the lease.
			within, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTimeout)
			errs = append(errs, w.deps.Store.TryAgain(within, o.ID, after))
			cancel()
		}
		if len(taken) < batch {
			return errors.Join(errs...)
		}
	}
}

// advance takes the next steps of an off-boarding and returns when it is due again if they succeed.
func (w *Worker) advance(ctx context.Context, o store.Offboarded, lag time.Duration) (after time.Duration, err error) {
	switch {
	case o.State == store.Erased:
		return checkEvery, w.checkErased(ctx, o)
	case o.State == store.Erasing:
		return Interval, w.erase(ctx, o)
	case !o.Due:
		return Interval, nil
	}
	begun, err := w.beginErasure(ctx, &o, lag)
	if err != nil || !begun {
		return checkEvery, err
	}
	return Interval, w.erase(ctx, o)
}

// beginErasure moves the tenant to erasing, unless something of it is in flight.
func (w *Worker) beginErasure(ctx context.Context, o *store.Offboarded, lag time.Duration) (begun bool, err error) {
	holders, err := w.deps.Holders(ctx)
	if err != nil {
		return false, err
	}
	var waiting []string
	note := func(service string, inFlight int64) {
		if inFlight > 0 {
			waiting = append(waiting, fmt.Sprintf("%s: %d in flight", service, inFlight))
		}
	}
	for _, h := range holders {
		counted, err := h.count(ctx, o.Tenant)
		if err != nil {
			return false, err
		}
		note(h.String(), counted.GetInFlight())
	}
	_, own, err := w.deps.Own.Count(ctx, o.Tenant)
	if err != nil {
		return false, err
	}
	note(string(identity.Tenants), own)
	if len(waiting) > 0 {
		return false, w.deps.Store.RecordWait(ctx, o.ID, waiting)
	}
	o.KeyIDs, begun, err = w.deps.Store.BeginErasure(ctx, o.ID, lag)
	return begun, err
}

// erase counts, erases and counts again. The tenant itself is erased last, so that its keys stay known until then, and refused.
func (w *Worker) erase(ctx context.Context, o store.Offboarded) error {
	holders, err := w.deps.Holders(ctx)
	if err != nil {
		return err
	}
	for _, h := range holders {
		if slices.Contains(o.Counted, h.String()) {
			continue
		}
		counted, err := h.count(ctx, o.Tenant)
		if err == nil {
			err = w.deps.Store.CountedBefore(ctx, o.ID, h.String(), counted.GetTables())
		}
		if err != nil {
			return err
		}
	}
	own, _, err := w.deps.Own.Count(ctx, o.Tenant)
	if err == nil {
		err = w.deps.Store.CountedBefore(ctx, o.ID, string(identity.Tenants), own)
	}
	if err != nil {
		return err
	}
	for _, h := range holders {
		if err := h.erase(ctx, o.Tenant); err != nil {
			return err
		}
	}
	if err := w.deps.Store.EraseOwn(ctx, o.Tenant); err != nil {
		return err
	}
	for range maxPasses {
		found, err := w.recount(ctx, o.Tenant)
		if err != nil {
			return err
		}
		if !found {
			return w.finish(ctx, o.Tenant)
		}
	}
	return errNeverEmpty
}

func (w *Worker) finish(ctx context.Context, tenant tenants.Tenant) error {
	if err := w.deps.Store.FinishErasure(ctx, tenant.ID); err != nil {
		return err
	}
	w.deps.Log.InfoContext(ctx, "tenant erased", "tenant_id", tenant.ID)
	return nil
}

// recount counts everything after an erasure and erases what was written meanwhile. It returns whether it found anything.
func (w *Worker) recount(ctx context.Context, tenant tenants.Tenant) (found bool, err error) {
	holders, err := w.deps.Holders(ctx)
	if err != nil {
		return false, err
	}
	for _, h := range holders {
		counted, err := h.count(ctx, tenant)
		if err != nil {
			return found, err
		}
		if rowsLeft(counted.GetTables()) > 0 {
			found = true
			if err := h.erase(ctx, tenant); err != nil {
				return found, err
			}
			if counted, err = h.count(ctx, tenant); err != nil {
				return found, err
			}
			if rowsLeft(counted.GetTables()) > 0 {
				return found, fmt.Errorf("%s: %w", h, errNeverEmpty)
			}
		}
		if err := w.deps.Store.CountedAfter(ctx, tenant.ID, h.String(), counted.GetTables()); err != nil {
			return found, err
		}
	}
	own, _, err := w.deps.Own.Count(ctx, tenant)
	if err == nil && rowsLeft(own) > 0 {
		found, err = true, errNeverEmpty
	}
	if err != nil {
		return found, err
	}
	return found, w.deps.Store.CountedAfter(ctx, tenant.ID, string(identity.Tenants), own)
}

// checkErased finds out whether rows of an erased tenant came back, and erases them.
func (w *Worker) checkErased(ctx context.Context, o store.Offboarded) error {
	own, _, err := w.deps.Own.Count(ctx, o.Tenant)
	if err != nil {
		return err
	}
	cameBack := rowsLeft(own) > 0
	if cameBack {
		if err := w.deps.Store.EraseOwn(ctx, o.Tenant); err != nil {
			return err
		}
	}
	found, err := w.recount(ctx, o.Tenant)
	if err != nil {
		return err
	}
	if cameBack = cameBack || found; cameBack {
		w.deps.Log.WarnContext(ctx, "rows of an erased tenant came back and are erased again", "tenant_id", o.ID)
	}
	return w.deps.Store.CheckedErasure(ctx, o.ID, cameBack)
}
