package offboarding_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

func TestATenantIsErasedAfterItsGracePeriod(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.store.Offboard(t.Context(), f.tenant, someone(), time.Hour)
	require.NoError(t, err)
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_DISABLED, f.state().GetState())

	pgtest.Exec(t, f.pool, `UPDATE offboardings SET erase_after = now() - interval '1 hour' WHERE tenant_id = $1`, f.tenant)
	f.now()
	require.NoError(t, f.worker().Work(t.Context(), 2*time.Hour), "the retention clock lags behind the database's")
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_DISABLED, f.state().GetState())
	f.now()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	f.requireErased()
	actions := []tenantsv1.OffboardingAction(nil)
	for _, step := range f.state().GetSteps() {
		actions = append(actions, step.GetAction())
	}
	require.Equal(t, []tenantsv1.OffboardingAction{
		tenantsv1.OffboardingAction_OFFBOARDING_ACTION_REQUEST, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_BEGIN_ERASURE,
		tenantsv1.OffboardingAction_OFFBOARDING_ACTION_ERASE,
	}, actions)
	require.Equal(t, "ada", f.state().GetRequestedBy().GetId())
}

func TestTheErasureWaitsForWhatIsInFlight(t *testing.T) {
	t.Parallel()
	f := setup(t)
	pgtest.Exec(t, f.services[1].pool, `INSERT INTO things (tenant_id, open) VALUES ($1, true), ($1, true)`, f.tenant)
	f.offboard()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_DISABLED, f.state().GetState())
	require.Equal(t, []string{"webhook: 2 in flight"}, f.state().GetWaitingFor())
	other, err := f.store.Offboarding(t.Context(), f.other)
	require.NoError(t, err)
	require.Equal(t, []string{"webhook: 1 in flight"}, other.GetWaitingFor())
	require.Equal(t, f.rows, f.services[0].rows(f.tenant))

	calls := f.services[0].calls.Load()
	pgtest.Exec(t, f.pool, `UPDATE offboardings SET next_attempt_at = next_attempt_at - interval '55 minutes'`)
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Equal(t, calls, f.services[0].calls.Load(), "a large tenant is not counted each minute")

	pgtest.Exec(t, f.services[1].pool, `DELETE FROM things WHERE open AND tenant_id = $1`, f.tenant)
	f.now()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	f.requireErased()
	require.Empty(t, f.state().GetWaitingFor())
}

func TestACrashAfterAnyStepIsContinued(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, afterward := range []bool{false, true} {
		for crashed, at := true, 1; crashed; at++ {
			f.renew()
			f.offboard()
			f.services[1].failAt, f.services[1].failAfterward = at, afterward
			err := f.worker().Work(t.Context(), 0)
			if crashed = err != nil; crashed {
				require.ErrorIs(t, err, errCrash)
				f.now()
				require.NoError(t, f.worker().Work(t.Context(), 0))
			}
			f.requireErased()
			require.Less(t, at, 20)
		}
	}
}

func TestAServiceThatHasCountedIsNotAskedAgainWhileAnotherOneFails(t *testing.T) {
	t.Parallel()
	f := setupWith(t, 1)
	_, err := f.store.CancelOffboarding(t.Context(), f.other, someone())
	require.NoError(t, err)
	f.offboard()
	for _, call := range []int{2, 3} { // The first one asks what is in flight.
		f.services[1].failAt = call
		f.now()
		require.ErrorIs(t, f.worker().Work(t.Context(), 0), errCrash)
		require.EqualValues(t, 2, f.services[0].calls.Load())
	}
}

func TestAnInstanceThatStopsReleasesAllThatItHasClaimed(t *testing.T) {
	t.Parallel()
	f := setupWith(t, 1)
	f.offboard()
	ctx, stop := context.WithCancel(t.Context())
	f.services[0].hookAt, f.services[0].hook = 1, stop
	require.ErrorIs(t, f.worker().Work(ctx, 0), context.Canceled)
	require.Equal(t, 2, pgtest.Value[int](t, f.pool,
		`SELECT count(*) FROM offboardings WHERE next_attempt_at <= now() + interval '1 minute'`))
}

func TestWhatComesBackIsErasedAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.offboard()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	f.requireErased()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Len(t, f.state().GetSteps(), 3, "it is not checked at once")

	f.services[0].write(f.tenant, 7) // As a restore does, or a late reader.
	f.now()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	f.requireErased()
	require.Equal(t, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_ERASE_AGAIN, f.state().GetSteps()[3].GetAction())
	f.now()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Len(t, f.state().GetSteps(), 4, "nothing came back")
}

func TestWhatIsWrittenDuringAnErasureIsErasedToo(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for written, at := true, 1; written; at++ {
		f.renew()
		f.offboard()
		written = false
		f.services[1].hookAt, f.services[1].hook = at, func() { // A change that the readers get late.
			written = true
			f.services[0].write(f.tenant, 3)
		}
		require.NoError(t, f.worker().Work(t.Context(), 0))
		// What came after the last count is found by the first check.
		f.services[1].hookAt = 0
		f.now()
		require.NoError(t, f.worker().Work(t.Context(), 0))
		require.Zero(t, f.services[0].rows(f.tenant))
		require.Equal(t, f.rows, f.services[0].rows(f.other))
		for _, table := range f.state().GetReport() {
			require.True(t, table.GetKept() != "" || table.GetRowsAfter() == 0, table)
		}
		require.Less(t, at, 20)
	}
}

func TestAnErasureThatDoesNotGetOnIsOverdue(t *testing.T) {
	t.Parallel()
	f := setup(t)
	overdue := func() time.Duration {
		age, err := f.store.OverdueErasure(t.Context())
		require.NoError(t, err)
		return age
	}
	require.Positive(t, overdue(), "the other tenant waits for something")
	_, err := f.store.CancelOffboarding(t.Context(), f.other, someone())
	require.NoError(t, err)
	require.Zero(t, overdue())
	f.offboard()
	f.services[1].failAt = 1
	require.ErrorIs(t, f.worker().Work(t.Context(), 0), errCrash)
	require.GreaterOrEqual(t, overdue(), time.Hour)
	require.Empty(t, f.state().GetReport(), "nothing is erased before all services have counted")
	f.now()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Zero(t, overdue())
	pgtest.Exec(t, f.pool, `UPDATE offboardings SET checked_at = now() - interval '3 hours'`)
	require.Greater(t, overdue(), time.Hour, "nobody checks whether something came back")
}

// crash cancels what the worker does before a statement in its own database, and everything after it.
type crash struct{ statement, before atomic.Int64 }

func (c *crash) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	if before := c.before.Load(); before > 0 && c.statement.Add(1) >= before {
		dead, cancel := context.WithCancel(ctx)
		cancel()
		return dead
	}
	return ctx
}

func (*crash) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func TestACrashBeforeAnyStatementIsContinued(t *testing.T) {
	t.Parallel()
	f := setupWith(t, 10) // The statements are those of the worker, however many rows there are.
	c := &crash{}
	cfg := f.pool.Config().Copy()
	cfg.ConnConfig.Tracer = c
	pool, err := pgxpool.NewWithConfig(t.Context(), cfg)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	for crashed, at := true, int64(1); crashed; at++ {
		f.renew()
		f.offboard()
		c.statement.Store(0)
		c.before.Store(at)
		crashed = f.workerOn(pool).Work(t.Context(), 0) != nil
		c.before.Store(0)
		f.now()
		require.NoError(t, f.worker().Work(t.Context(), 0))
		f.requireErased()
		require.Less(t, at, int64(200))
	}
}

func TestTwoWorkersMayHaveTheSameTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for interrupted, at := true, 1; interrupted; at++ {
		f.renew()
		f.offboard()
		interrupted = false
		f.services[1].hookAt, f.services[1].hook = at, func() { // The lease of the first worker is over.
			interrupted = true
			f.now()
			require.NoError(t, f.worker().Work(t.Context(), 0))
		}
		require.NoError(t, f.worker().Work(t.Context(), 0))
		f.requireErased()
		require.Len(t, f.state().GetSteps(), 3)
		require.Less(t, at, 20)
	}
}

func TestACancelledOffboardingErasesNothing(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.offboard()
	f.services[1].hookAt, f.services[1].hook = 1, func() { // The worker is about to begin.
		_, err := f.store.CancelOffboarding(t.Context(), f.tenant, someone())
		require.NoError(t, err)
	}
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Equal(t, f.rows, f.services[0].rows(f.tenant))
	_, err := f.store.Offboarding(t.Context(), f.tenant)
	require.ErrorIs(t, err, store.ErrNotFound)
	_, err = f.store.Offboarding(t.Context(), f.other)
	require.NoError(t, err, "the other one is still off-boarded")
	settings, err := f.store.Settings(t.Context(), f.tenant)
	require.NoError(t, err)
	require.False(t, settings.GetOffboarding())
}

func TestWorkersAtOnceEraseATenantOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.offboard()
	var workers errgroup.Group
	for range 4 {
		worker := f.worker()
		workers.Go(func() error {
			var errs []error
			for range 3 {
				// As if the lease of the others were over.
				_, err := f.pool.Exec(t.Context(), `UPDATE offboardings SET next_attempt_at = now()`)
				errs = append(errs, err, worker.Work(t.Context(), 0))
			}
			return errors.Join(errs...)
		})
	}
	require.NoError(t, workers.Wait())
	f.requireErased()
	require.GreaterOrEqual(t, len(f.state().GetSteps()), 3)
	for _, step := range f.state().GetSteps()[1:] {
		require.NotEqual(t, tenantsv1.OffboardingAction_OFFBOARDING_ACTION_REQUEST, step.GetAction())
	}
}

func TestACancellationWinsOrTheErasureDoes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.offboard()
	var both errgroup.Group
	var refused error
	worker := f.worker()
	both.Go(func() error { return worker.Work(t.Context(), 0) })
	both.Go(func() error {
		_, refused = f.store.CancelOffboarding(t.Context(), f.tenant, someone())
		return nil
	})
	require.NoError(t, both.Wait())
	if refused != nil {
		require.ErrorIs(t, refused, store.ErrErasing)
		f.requireErased()
		return
	}
	require.Equal(t, f.rows, f.services[0].rows(f.tenant))
	require.Equal(t, f.rows, f.services[1].rows(f.tenant))
	_, err := f.store.Settings(t.Context(), f.tenant)
	require.NoError(t, err)
}
