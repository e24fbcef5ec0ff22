// Package moves moves tenants between cells, and keeps the gifts that all cells show the same.
//
// # A move
//
// PostgreSQL copies the rows of the tenant from each database of the old cell to that of the new one and follows their changes, by
// logical replication (copy.go). When the copy is complete, the webhooks of the tenant wait, and those that are being sent end.
// Then the old cell refuses changes of the tenant: a trigger on each of its tables raises an error of class 57, which services
// answer with service_unavailable and gateways hold back (fence.go). What has been committed reaches the feed and the webhooks, and
// the new cell; both cells are compared row by row; and the tenant is switched (switch.go). This takes at most fenceTime, else the
// move goes back to copying. At last the rows of the old cell are erased.
//
// Every step is a row of tenant_moves, and may be repeated: a worker that ends leaves nothing that its successor does not find. One
// instance of the service works on all moves, and takes a step only from the state that it has read. A move back is a move.
//
// # Rights
//
// The logins of Databases create publications, slots and subscriptions, and write as an apply worker does, without ordinary
// triggers: that of the replica role. On PostgreSQL 15 this takes a superuser; later a member of pg_create_subscription and of the
// owners of the tables with REPLICATION and the right to set some parameters, which the production page of cells lists.
package moves

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	// workInterval is how often the worker looks for moves, and looks at one again whose step is not complete.
	workInterval = time.Second
	// retryPause follows an attempt that failed, fencePause one that had fenced the tenant: it must be able to work for most of the
	// time.
	retryPause = 5 * time.Second
	fencePause = time.Minute
	// fenceTime is how long changes of a tenant are refused at most. Gateways hold a call back for a little longer.
	fenceTime = 8 * time.Second
)

// Publisher publishes versions of tenants to the edges.
type Publisher interface {
	Publish(ctx context.Context, tenantID string, version int64) error
}

// Deps are what a Mover works with.
type Deps struct {
	Store     *store.Store
	Publisher Publisher
	Databases Databases
	// Leases make one instance of the service the mover.
	Leases postgres.Leases
	Log    *slog.Logger
}

// Mover moves tenants.
type Mover struct {
	deps Deps

	lock sync.Mutex
	// busy are the tenants whose moves are being worked on.
	busy    map[string]bool
	working sync.WaitGroup
}

// New makes a Mover and its metrics.
func New(deps Deps, tel *telemetry.Telemetry) (*Mover, error) {
	m := &Mover{deps: deps, busy: map[string]bool{}}
	return m, m.observe(tel)
}

// Parts are the periodic work: the moves, and the copies of the gifts.
func (m *Mover) Parts(tel *telemetry.Telemetry) []daemon.Part {
	if len(m.deps.Databases) == 0 {
		return nil
	}
	moves := daemon.Every("moves", workInterval, tel, m.workOnAll)
	return []daemon.Part{
		{Name: moves.Name, Run: func(ctx context.Context) error {
			m.deps.Leases.Run(ctx, 1, func(ctx context.Context, _ int) {
				_ = moves.Run(ctx)
				m.working.Wait() // Before another instance may begin.
			})
			return nil
		}},
		daemon.Every("gifts of cells", copyInterval, tel, m.KeepGifts),
	}
}

// workOnAll begins to work on the moves that are due. It does not wait for them, because one may take hours.
func (m *Mover) workOnAll(ctx context.Context) error {
	due, err := m.deps.Store.DueMoves(ctx)
	m.lock.Lock()
	defer m.lock.Unlock()
	for _, move := range due {
		if m.busy[move.ID] {
			continue
		}
		m.busy[move.ID] = true
		m.working.Go(func() {
			defer func() {
				m.lock.Lock()
				defer m.lock.Unlock()
				delete(m.busy, move.ID)
			}()
			if err := m.work(ctx, move); err != nil && ctx.Err() == nil {
				m.deps.Log.WarnContext(ctx, "a move does not go on, trying again", "tenant_id", move.ID, "to", move.To, "error", err)
			}
		})
	}
	return err
}

// work takes a move as far as it can go now, and notes why it cannot go on.
func (m *Mover) work(ctx context.Context, move store.Move) error {
	c, err := m.prepare(ctx, &move)
	defer c.disconnect()
	var after time.Duration
	var progress store.Progress
	if err == nil {
		after, progress, err = m.advance(ctx, c, &move)
	}
	if errors.Is(err, store.ErrMoved) {
		return nil // It was cancelled, or is at another step: the next look finds it.
	}
	problem := ""
	if err != nil {
		problem, after = err.Error(), retryPause
	}
	if errors.Is(err, errSwitch) {
		after = fencePause
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTimeout)
	defer cancel()
	return errors.Join(err, m.deps.Store.NoteMove(within, move.ID, progress, problem, after))
}

// prepare connects to both cells. Before it needs the new one, it lets the old one change a tenant that is not switched: a worker
// that ended may have fenced it.
func (m *Mover) prepare(ctx context.Context, move *store.Move) (*cells, error) {
	c := &cells{move: move, urls: m.deps.Databases, source: map[string]*database{}, target: map[string]*database{}}
	if err := c.connect(ctx, move.From, c.source); err != nil {
		return c, err
	}
	if move.Step == store.Switching {
		if err := m.step(ctx, move, store.Copying); err != nil {
			return c, err
		}
	}
	if move.Step == store.Copying || move.Step == store.Undoing {
		if err := c.free(ctx); err != nil {
			return c, err
		}
	}
	return c, c.connect(ctx, move.To, c.target)
}

// errSwitch means that the tenant was fenced, and is not any more.
var errSwitch = errors.New("the tenant was not switched")

const noteTimeout = 5 * time.Second

// advance works on the step of a move, and on the next ones as long as each is completed. It returns when to look again, and how
// far the copy is.
func (m *Mover) advance(ctx context.Context, c *cells, move *store.Move) (after time.Duration, p store.Progress, err error) {
	for {
		var next tenantsv1.MoveStep
		switch move.Step {
		case store.Copying:
			next, p, err = m.copyRows(ctx, c)
		case store.Pausing:
			next, err = m.pause(ctx, c, move)
		case store.Opening:
			next, err = m.open(ctx, c)
		case store.MoveErase:
			next, err = m.eraseSource(ctx, c)
		case store.Undoing:
			next, err = m.undo(ctx, c)
		default:
			return 0, p, nil
		}
		if err != nil || next == move.Step {
			return workInterval, p, err
		}
		if err := m.step(ctx, move, next); err != nil {
			return 0, p, err
		}
		if move.Step == store.Switching {
			if err := m.switchCell(ctx, c, move); err != nil {
				return 0, p, m.goBack(ctx, move, err)
			}
		}
		if move.Step == store.MoveDone || move.Step == store.Cancelled {
			return 0, p, nil
		}
	}
}

// step takes the move to its next step, and tells the gateways.
func (m *Mover) step(ctx context.Context, move *store.Move, next tenantsv1.MoveStep) error {
	version, err := m.deps.Store.StepMove(ctx, move, next)
	if err != nil {
		return err
	}
	m.deps.Log.InfoContext(ctx, "move of a tenant", "tenant_id", move.ID, "to", move.To, "step", next.String())
	return m.deps.Publisher.Publish(ctx, move.ID, version)
}

// goBack ends a switch that did not succeed, and returns why: the tenant goes on in the old cell. Whether it succeeded is decided
// by the step: if only the answer of the database was lost, or the move was cancelled, the step is another one, and the next look
// goes on from there.
func (m *Mover) goBack(ctx context.Context, move *store.Move, cause error) error {
	if move.Step != store.Switching {
		return cause
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), fenceTime)
	defer cancel()
	version, err := m.deps.Store.StepMove(ctx, move, store.Copying)
	if err != nil {
		return errors.Join(err, cause)
	}
	// The connections of the switch may have ended with its time.
	c, err := m.prepare(ctx, move)
	defer c.disconnect()
	switch {
	case err != nil:
	case errors.Is(cause, errDiffers):
		err = c.endCopies(ctx) // What differs is copied again.
	default:
		cause = errors.Join(errSwitch, cause)
	}
	return errors.Join(cause, err, m.deps.Publisher.Publish(ctx, move.ID, version))
}

// free lets the old cell change the tenant and send its webhooks.
func (c *cells) free(ctx context.Context) error {
	if err := c.unfence(ctx, c.source); err != nil {
		return err
	}
	return c.source[webhookDB].run(ctx, "release deliveries", releaseDeliveries, c.move.ID)
}

// open lets the new cell change the tenant and send its webhooks.
func (m *Mover) open(ctx context.Context, c *cells) (next tenantsv1.MoveStep, err error) {
	if err := c.unfence(ctx, c.target); err != nil {
		return 0, err
	}
	return store.MoveErase, c.target[webhookDB].run(ctx, "release deliveries", releaseDeliveries, c.move.ID)
}

// eraseSource ends the replication and erases the rows of the old cell. Nobody uses them: keys, links and webhooks of the tenant
// lead to the new cell. The old one goes on refusing changes until no request can arrive late.
func (m *Mover) eraseSource(ctx context.Context, c *cells) (next tenantsv1.MoveStep, err error) {
	if err := c.endCopies(ctx); err != nil {
		return 0, err
	}
	if waiting, err := c.unconfirmed(ctx); waiting || err != nil {
		return store.MoveErase, err
	}
	if err := c.eraseRows(ctx, c.source, c.target); err != nil {
		return 0, err
	}
	if c.move.StepAge < lateRequests {
		return store.MoveErase, nil
	}
	return store.MoveDone, c.removeFences(ctx)
}

// lateRequests is longer than a service works on a request that it was sent before the switch.
const lateRequests = 15 * time.Second

// undo ends a move that was cancelled: the tenant goes on in the old cell, and nothing of it is left in the new one.
func (m *Mover) undo(ctx context.Context, c *cells) (next tenantsv1.MoveStep, err error) {
	if err := c.endCopies(ctx); err != nil {
		return 0, err
	}
	if err := c.eraseRows(ctx, c.target, c.source); err != nil {
		return 0, err
	}
	return store.Cancelled, c.removeFences(ctx)
}
