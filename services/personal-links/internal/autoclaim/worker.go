// Package autoclaim approves and claims links of the sandbox by themselves, one step after another.
//
// Each link has a row that says when its next step is due. The row is written with the link and deleted after the last step, so a
// restart loses no step. A step is taken for a lease: if its instance ends, another one makes it later. It may be made twice, which
// changes nothing: an approved link is not approved again, and a link has one claim.
package autoclaim

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

const (
	// lease is longer than a step may take: to read the gifts, to wait for another claim and to place the order.
	lease = 30 * time.Second
	batch = 16
	// atOnce bounds the claims of one instance that run at the same time.
	atOnce = 4
)

// Claims claims a link with a gift and a recipient of its own choice.
type Claims interface {
	ClaimByItself(ctx context.Context, link *rules.Link) error
}

// Worker makes the steps that are due.
type Worker struct {
	Store  *store.Store
	Claims Claims
	Clock  func() time.Time
	Log    *slog.Logger
	// Wake is called after steps, so that their events are published immediately.
	Wake func()
}

// Run makes all steps that are due and returns the time until the next one is due.
func (w *Worker) Run(ctx context.Context) (next time.Duration, found bool, err error) {
	err = daemon.InBatches(ctx, batch, func(ctx context.Context, limit int) (int, error) {
		steps, err := w.Store.TakeSteps(ctx, lease, limit)
		if err != nil {
			return 0, err
		}
		var group errgroup.Group
		group.SetLimit(atOnce)
		for _, step := range steps {
			group.Go(func() error {
				if err := w.makeStep(ctx, step); err != nil && ctx.Err() == nil {
					w.Log.WarnContext(ctx, "cannot make a step of a link, trying again later", "link_id", step.Link.ID, "error", err)
				}
				return nil // A link that fails does not block the others.
			})
		}
		_ = group.Wait() // It never fails.
		if len(steps) > 0 {
			w.Wake()
		}
		return len(steps), nil
	})
	if err != nil {
		return 0, false, err
	}
	return w.Store.NextStep(ctx)
}

func (w *Worker) makeStep(ctx context.Context, step store.Step) error {
	link, err := w.Store.Get(ctx, step.Link.TenantID, step.Link.ID)
	if errors.Is(err, store.ErrNotFound) {
		return w.Store.EndSteps(ctx, step.Link)
	}
	if err != nil {
		return err
	}
	status := link.Record.GetStatus()
	if status == rules.Requested {
		return w.Store.ApproveStep(ctx, step, w.Clock())
	}
	if status == rules.Active && step.Stop != enumname.String(status) {
		if err := w.Claims.ClaimByItself(ctx, link); !decided(err) {
			return err
		}
	}
	return w.Store.EndSteps(ctx, step.Link)
}

// decided reports whether a claim succeeded or was refused. A link whose choice was refused stays ACTIVE, and is not claimed by
// itself any more: its gift may be out of stock for ever.
func decided(err error) bool {
	if err == nil {
		return true
	}
	p, ok := problem.As(err)
	return ok && problem.Lookup(p.Code).Status < http.StatusInternalServerError
}
