package claims_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// A claim and its recovery are broken at every point: before and after each of their steps.
func TestTheClaimConvergesWhateverBreaksWhere(t *testing.T) {
	b := setup(t)
	for _, refusal := range []error{nil, problem.New(problem.OutOfStock, "none left")} {
		for _, forGood := range []bool{true, false} {
			t.Run(fmt.Sprintf("refused %t, crash %t", refusal != nil, forGood), func(t *testing.T) {
				b.orders.refusal = refusal
				outcomes := map[string]int{}
				points := 0
				for broken := true; broken; points++ {
					broken = b.breakClaim(t, points, forGood, outcomes)
				}
				require.Greater(t, points, 6, "mark, place and finish have two points each")
				require.Positive(t, outcomes[rules.StatusName(rules.Active)], "some claims come to nothing")
				require.Equal(t, refusal == nil, outcomes[rules.StatusName(rules.Claimed)] > 0)
			})
		}
	}
}

// breakClaim breaks a claim at the point, then each recovery of it at each of its points.
func (b *bench) breakClaim(t *testing.T, point int, forGood bool, outcomes map[string]int) (broken bool) {
	t.Helper()
	for again := 0; ; again++ {
		link := b.newLink(t)
		claim := &fault{at: point, forGood: forGood}
		result, claimed := b.instance(claim).Claim(t.Context(), link, request(link))
		if claimed == nil && result.Order != nil {
			require.Equal(t, rules.Claimed, b.get(t, link).Record.GetStatus(), "the link is claimed before the player is told")
		}

		b.endLeases(t)
		recovery := &fault{at: again, forGood: forGood}
		_ = b.instance(recovery).RecoverOnce(t.Context())
		b.endLeases(t)
		require.NoError(t, b.instance(healthy()).RecoverOnce(t.Context()))

		after := b.requireConverged(t, link)
		outcomes[rules.StatusName(after.Record.GetStatus())]++
		if claimed == nil && result.Order != nil {
			require.Equal(t, result.Order.GetId(), after.Record.GetOrderId(), "what the player was told is true")
		}
		if !recovery.met {
			return claim.met
		}
	}
}

func TestClaimsOfSeveralInstancesAtOncePlaceOneOrder(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	first, second := b.instance(healthy()), b.instance(healthy())
	var group errgroup.Group
	for i := range 50 {
		saga := []*claims.Saga{first, second}[i%2]
		group.Go(func() error {
			result, err := saga.Claim(t.Context(), link, request(link))
			if err == nil && result.Link.Record.GetStatus() != rules.Claimed {
				err = fmt.Errorf("%w: %s", errBroken, result.Link.Record.GetStatus())
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.Equal(t, rules.Claimed, b.requireConverged(t, link).Record.GetStatus())
}

func TestRecoveriesOfSeveralInstancesAtOnceEndEveryClaimOnce(t *testing.T) {
	b := setup(t)
	var links []*rules.Link
	for i := range 60 {
		link := b.newLink(t)
		// Every other claim dies after it placed its order, the others before.
		_, err := b.instance(&fault{at: 2 + i%2*2, forGood: true}).Claim(t.Context(), link, request(link))
		if i%2 == 0 {
			require.Error(t, err)
		}
		links = append(links, link)
	}
	b.endLeases(t)
	var group errgroup.Group
	for range 4 {
		group.Go(func() error { return b.instance(healthy()).RecoverOnce(t.Context()) })
	}
	require.NoError(t, group.Wait())
	for i, link := range links {
		require.Equal(t, i%2 == 1, b.requireConverged(t, link).Record.GetStatus() == rules.Claimed)
	}
}

func TestALinkThatDoesNotOpenHoldsUpNoOther(t *testing.T) {
	b := setup(t)
	broken, other := b.newLink(t), b.newLink(t)
	for _, link := range []*rules.Link{broken, other} {
		_, err := b.instance(&fault{at: 4, forGood: true}).Claim(t.Context(), link, request(link))
		require.Error(t, err)
	}
	_, err := b.pool.Exec(t.Context(), "UPDATE links SET details_sealed = 'x' WHERE id = $1", broken.Record.GetId())
	require.NoError(t, err)
	b.endLeases(t)
	require.NoError(t, b.instance(healthy()).RecoverOnce(t.Context()))
	require.Equal(t, rules.Claimed, b.requireConverged(t, other).Record.GetStatus())
}

func TestAClaimThatIsUnderWayIsLeftAlone(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	orderID := uuid.NewString()
	_, err := b.store.Mark(t.Context(), b.tenant, link.Record.GetId(), orderID, time.Hour)
	require.NoError(t, err)
	require.NoError(t, b.instance(healthy()).RecoverOnce(t.Context()))
	require.Equal(t, orderID, *b.get(t, link).ClaimOrderID)
}

func TestAPlayerFindsTheClaimACrashLeftAndDoesNotWaitForRecovery(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	_, err := b.instance(&fault{at: 2, forGood: true}).Claim(t.Context(), link, request(link))
	require.Error(t, err)
	b.endLeases(t)
	result, err := b.instance(healthy()).Claim(t.Context(), b.get(t, link), request(link))
	require.NoError(t, err)
	require.NotNil(t, result.Order)
	require.Equal(t, rules.Claimed, b.requireConverged(t, link).Record.GetStatus())
}

func TestAnOrderThatComesAfterItsClaimWasSettledIsNotPlaced(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	orderID := uuid.NewString()
	marked, err := b.store.Mark(t.Context(), b.tenant, link.Record.GetId(), orderID, time.Hour)
	require.NoError(t, err)
	settled, err := b.instance(healthy()).Settle(t.Context(), marked)
	require.NoError(t, err)
	require.Nil(t, settled.ClaimOrderID)
	late := request(link)
	late.OrderId = orderID
	resp, err := b.orders.PlaceClaimedOrder(t.Context(), late)
	require.NoError(t, err)
	require.Nil(t, resp.GetOrder())
	finished, err := b.store.Finish(t.Context(), b.tenant, link.Record.GetId(), orderID, time.Now())
	require.NoError(t, err)
	require.Equal(t, rules.Active, finished.Record.GetStatus(), "nor is the link ended with it")
	b.requireConverged(t, link)
}

func TestRecoverRunsUntilItIsToldToStop(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	_, err := b.instance(&fault{at: 4, forGood: true}).Claim(t.Context(), link, request(link))
	require.Error(t, err, "the order was placed, and the link does not say so yet")
	b.endLeases(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.instance(healthy()).Recover(ctx, 10*time.Millisecond) }()
	require.Eventually(t, func() bool { return b.get(t, link).Record.GetStatus() == rules.Claimed }, 10*time.Second, 10*time.Millisecond)
	stop()
	require.NoError(t, <-ended)
	b.requireConverged(t, link)
}
