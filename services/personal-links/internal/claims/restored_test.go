package claims_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// claimAndForget claims a link and then sets the database back to the time before. It returns the link's order.
func (f *fixture) claimAndForget(t *testing.T) (link *rules.Link, orderID string) {
	t.Helper()
	link = f.newLink(t)
	f.exec(t, "CREATE TABLE backup AS SELECT * FROM links")
	result, err := f.instance(healthy()).Claim(t.Context(), link, request(link))
	require.NoError(t, err)
	require.NotNil(t, result.Order)
	f.exec(t, "DELETE FROM links")
	f.exec(t, "DELETE FROM outbox")
	f.exec(t, "INSERT INTO links SELECT * FROM backup")
	f.exec(t, "DROP TABLE backup")
	require.Equal(t, rules.Active, f.get(t, link).Record.GetStatus(), "the link has lost its claim")
	return f.get(t, link), result.Order.GetId()
}

func (f *fixture) exec(t *testing.T, sql string) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func TestARestoredLinkIsClaimedWithItsFirstOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link, first := f.claimAndForget(t)
	result, err := f.instance(healthy()).Claim(t.Context(), link, request(link))
	require.NoError(t, err)
	require.Nil(t, result.Order, "this claim placed no order, as on a link that is already claimed")
	require.Equal(t, rules.Claimed, result.Link.Record.GetStatus())
	require.Equal(t, first, f.requireConverged(t, link).Record.GetOrderId())
	claimed := f.get(t, link).Record.GetClaimedAt().AsTime()
	require.WithinDuration(t, f.orders.CreatedAt(first), claimed, time.Microsecond, "it was claimed when the order was placed")
	require.EqualValues(t, 1, f.lostClaims.Load())
}

func TestAClaimThatAnotherOneReplacedIsNotLost(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	_, err := f.instance(&claimstest.Failure{At: 2, Crash: true}).Claim(t.Context(), link, request(link))
	require.Error(t, err, "it crashes before it places its order")
	locked := f.get(t, link)
	require.NotNil(t, locked.ClaimOrderID)
	f.endLeases(t)
	result, err := f.instance(healthy()).Claim(t.Context(), f.get(t, link), request(link))
	require.NoError(t, err)
	require.NotNil(t, result.Order)
	reconciled, err := f.instance(healthy()).Reconcile(t.Context(), locked)
	require.NoError(t, err)
	require.Equal(t, result.Order.GetId(), reconciled.Record.GetOrderId())
	f.requireConverged(t, link)
	require.Zero(t, f.lostClaims.Load())
}

// The test breaks the second claim of a restored link, and then its reconciliation, before and after each of their steps.
func TestARestoredLinkConvergesAfterAFailureAtAnyStep(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, crash := range []bool{true, false} {
		for point, broken := 0, true; broken; point++ {
			for again, brokenAgain := 0, true; brokenAgain; again++ {
				link, first := f.claimAndForget(t)
				claim, reconciling := &claimstest.Failure{At: point, Crash: crash}, &claimstest.Failure{At: again, Crash: crash}
				_, _ = f.instance(claim).Claim(t.Context(), link, request(link))
				f.endLeases(t)
				_ = f.instance(reconciling).ReconcileExpired(t.Context())
				f.endLeases(t)
				require.NoError(t, f.instance(healthy()).ReconcileExpired(t.Context()))
				_, err := f.instance(healthy()).Claim(t.Context(), link, request(link))
				require.NoError(t, err)
				require.Equal(t, first, f.requireConverged(t, link).Record.GetOrderId(), "crash %t at %d and %d", crash, point, again)
				broken, brokenAgain = claim.Reached, reconciling.Reached
			}
		}
	}
}

func TestConcurrentClaimsOfARestoredLinkGetItsFirstOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link, first := f.claimAndForget(t)
	instances := []*claims.Saga{f.instance(healthy()), f.instance(healthy())}
	var group errgroup.Group
	for i := range 20 {
		group.Go(func() error {
			result, err := instances[i%2].Claim(t.Context(), link, request(link))
			if err == nil && (result.Link.Record.GetOrderId() != first || result.Order != nil) {
				err = fmt.Errorf("%w: %v", claimstest.ErrBroken, result)
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, first, f.requireConverged(t, link).Record.GetOrderId())
}

// A claim that runs while the database is set back loses its lock. Its order must still become that of the link.
func TestAClaimThatLosesItsLockInARestoreIsNotLost(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.newLink(t)
	f.orders.During(func() {
		f.exec(t, "UPDATE links SET claim_order_id = NULL, claim_lease_until = NULL")
	})
	result, err := f.instance(healthy()).Claim(t.Context(), link, request(link))
	require.NoError(t, err)
	require.Equal(t, rules.Claimed, result.Link.Record.GetStatus())
	f.requireConverged(t, link)
}
