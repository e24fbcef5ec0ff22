package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func cancelOf(l *linksv1.PersonalLink) *linksv1.CancelPersonalLinkRequest {
	return &linksv1.CancelPersonalLinkRequest{LinkId: l.GetId(), Reason: "Marked reason"}
}

func (f *fixture) cancel(t *testing.T, idempotencyKey string, l *linksv1.PersonalLink) {
	t.Helper()
	_, err := f.client.CancelPersonalLink(f.post(idempotencyKey), cancelOf(l))
	require.NoError(t, err)
}

func TestACancellationIsAuditedOnceWithItsKey(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	f.cancel(t, "k", link)
	f.cancel(t, "k2", link)
	require.EqualValues(t, 7, f.events(t)[1].origin)
	require.Equal(t, 1, f.count(t, "link_audit"))
	require.Equal(t, 1, f.count(t, "link_audit WHERE action = 'CANCELLED' AND actor_kind = 'API_KEY' AND actor_id = '7'"))
}

func TestACancellationReconcilesAClaimInFlightFirst(t *testing.T) {
	t.Parallel()
	t.Run("the cancellation wins before the order is placed", func(t *testing.T) {
		f := setup(t)
		link := f.newLink(t)
		f.orders.During(func() {
			f.cancel(t, "k", link)
		})
		resp := f.claim(t, claimOf(link))
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, resp.GetState())
		require.Empty(t, f.orders.Placed())
		require.Equal(t, []string{"personal_link.created", "personal_link.cancelled"}, f.kinds(t, link.GetId()))
	})
	t.Run("the claim wins after the order is placed", func(t *testing.T) {
		f := setup(t)
		link := f.newLink(t)
		orderID := newID()
		_, err := f.store.LockClaim(t.Context(), f.tenant, link.GetId(), orderID, time.Hour)
		require.NoError(t, err)
		f.orders.Place(orderID)
		_, err = f.client.CancelPersonalLink(f.post("k"), cancelOf(link))
		requireRefused(t, err, problem.NotCancellable, "CLAIMED")
		require.Equal(t, orderID, f.read(t, link).GetOrderId())
		require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, link.GetId()))
	})
}

func TestAConcurrentClaimAndCancellationHaveOneWinner(t *testing.T) {
	t.Parallel()
	f := setup(t)
	claimed := 0
	for range 40 {
		link := f.newLink(t)
		var state linksv1.ClaimState
		var cancelErr error
		problemtest.AtOnce(t, 2, func(i int) error {
			if i == 0 {
				_, cancelErr = f.client.CancelPersonalLink(f.post(newID()), cancelOf(link))
				return cancelErr
			}
			resp, err := f.site.ClaimLink(t.Context(), claimOf(link))
			state = resp.GetState()
			return err
		}, problem.NotCancellable)
		after := f.read(t, link)
		if cancelErr == nil {
			require.Equal(t, rules.Cancelled, after.GetStatus())
			require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, state)
			require.Equal(t, []string{"personal_link.created", "personal_link.cancelled"}, f.kinds(t, link.GetId()))
			continue
		}
		claimed++
		require.Equal(t, rules.Claimed, after.GetStatus())
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, state)
		require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, link.GetId()))
	}
	require.Len(t, f.orders.Placed(), claimed)
}
