package claims_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/personal-links/internal/claimstest"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// The test breaks a claim and its reconciliation before and after each of their steps.
func TestAClaimConvergesAfterAFailureAtAnyStep(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, refusal := range []error{nil, problem.New(problem.OutOfStock, "none left")} {
		for _, crash := range []bool{true, false} {
			t.Run(fmt.Sprintf("refused %t, crash %t", refusal != nil, crash), func(t *testing.T) {
				f.orders.Refuse(refusal)
				outcomes := map[string]int{}
				points := 0
				for broken := true; broken; points++ {
					broken = f.breakClaim(t, points, crash, outcomes)
				}
				require.Greater(t, points, 6, "lock, place and finish have two points each")
				require.Positive(t, outcomes[enumname.String(rules.Active)], "some claims place no order")
				require.Equal(t, refusal == nil, outcomes[enumname.String(rules.Claimed)] > 0)
			})
		}
	}
}

// breakClaim breaks a claim at the point, and then each reconciliation of it at each of its points.
func (f *fixture) breakClaim(t *testing.T, point int, crash bool, outcomes map[string]int) (broken bool) {
	t.Helper()
	for again := 0; ; again++ {
		link := f.newLink(t)
		claim := &claimstest.Failure{At: point, Crash: crash}
		result, claimed := f.instance(claim).Claim(t.Context(), link, request(link))
		if claimed == nil && result.Order != nil {
			require.Equal(t, rules.Claimed, f.get(t, link).Record.GetStatus(), "the link is claimed before the player gets the response")
		}

		f.endLeases(t)
		reconciling := &claimstest.Failure{At: again, Crash: crash}
		_ = f.instance(reconciling).ReconcileExpired(t.Context())
		f.endLeases(t)
		require.NoError(t, f.instance(healthy()).ReconcileExpired(t.Context()))

		after := f.requireConverged(t, link)
		outcomes[enumname.String(after.Record.GetStatus())]++
		if claimed == nil && result.Order != nil {
			require.Equal(t, result.Order.GetId(), after.Record.GetOrderId(), "the response to the player is right")
		}
		if !reconciling.Reached {
			return claim.Reached
		}
	}
}

func TestSeveralInstancesReconcileEveryClaimOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var links []*rules.Link
	for i := range 60 {
		link := f.newLink(t)
		// Every second claim crashes after it has placed its order, the others crash before.
		_, err := f.instance(&claimstest.Failure{At: 2 + i%2*2, Crash: true}).Claim(t.Context(), link, request(link))
		if i%2 == 0 {
			require.Error(t, err)
		}
		links = append(links, link)
	}
	f.endLeases(t)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error { return f.instance(healthy()).ReconcileExpired(t.Context()) })
	}
	require.NoError(t, group.Wait())
	for i, link := range links {
		require.Equal(t, i%2 == 1, f.requireConverged(t, link).Record.GetStatus() == rules.Claimed)
	}
}

func TestALinkThatCannotBeDecryptedBlocksNoOther(t *testing.T) {
	t.Parallel()
	f := setup(t)
	broken, other := f.newLink(t), f.newLink(t)
	for _, link := range []*rules.Link{broken, other} {
		_, err := f.instance(&claimstest.Failure{At: 4, Crash: true}).Claim(t.Context(), link, request(link))
		require.Error(t, err)
	}
	_, err := f.pool.Exec(t.Context(), "UPDATE links SET details_sealed = 'x' WHERE id = $1", broken.Record.GetId())
	require.NoError(t, err)
	f.endLeases(t)
	require.NoError(t, f.instance(healthy()).ReconcileExpired(t.Context()))
	require.Equal(t, rules.Claimed, f.requireConverged(t, other).Record.GetStatus())
}
