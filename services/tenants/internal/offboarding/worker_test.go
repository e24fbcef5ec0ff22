package offboarding_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestATenantIsErasedAfterItsGracePeriod(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.store.Offboard(t.Context(), f.tenant, someone(), time.Hour)
	require.NoError(t, err)
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_DISABLED, f.state().GetState())

	_, err = f.pool.Exec(t.Context(), `UPDATE offboardings SET erase_after = now() - interval '1 hour' WHERE tenant_id = $1`, f.tenant)
	require.NoError(t, err)
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
	_, err := f.services[1].pool.Exec(t.Context(), `INSERT INTO things (tenant_id, open) VALUES ($1, true), ($1, true)`, f.tenant)
	require.NoError(t, err)
	f.offboard()
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_DISABLED, f.state().GetState())
	require.Equal(t, []string{"webhook: 2 in flight"}, f.state().GetWaitingFor())
	other, err := f.store.Offboarding(t.Context(), f.other)
	require.NoError(t, err)
	require.Equal(t, []string{"webhook: 1 in flight"}, other.GetWaitingFor())
	require.Equal(t, f.rows, f.services[0].rows(f.tenant))

	_, err = f.services[1].pool.Exec(t.Context(), `DELETE FROM things WHERE open AND tenant_id = $1`, f.tenant)
	require.NoError(t, err)
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
	_, err = f.pool.Exec(t.Context(), `UPDATE offboardings SET checked_at = now() - interval '3 hours'`)
	require.NoError(t, err)
	require.Greater(t, overdue(), time.Hour, "nobody checks whether something came back")
}

func TestAnErasureDoesNotFinishAnother(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.offboard()
	_, err := f.pool.Exec(t.Context(),
		`UPDATE offboardings SET state = 'ERASING', next_attempt_at = now() + interval '1 hour' WHERE tenant_id = $1`, f.other)
	require.NoError(t, err)
	require.NoError(t, f.worker().Work(t.Context(), 0))
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_ERASED, f.state().GetState())
	other, err := f.store.Offboarding(t.Context(), f.other)
	require.NoError(t, err)
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_ERASING, other.GetState())
}
