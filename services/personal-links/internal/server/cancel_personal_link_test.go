package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func cancelOf(l *linksv1.PersonalLink) *linksv1.CancelPersonalLinkRequest {
	return &linksv1.CancelPersonalLinkRequest{LinkId: l.GetId(), Reason: "Marked reason"}
}

func TestACancelledLinkKeepsItsFirstReason(t *testing.T) {
	t.Parallel()
	for _, approval := range []bool{true, false} {
		f := setupWithoutTwins(t)
		f.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = approval })
		link := f.newLink(t)
		resp, err := f.client.CancelPersonalLink(f.post("k"), cancelOf(link))
		require.NoError(t, err)
		cancelled := resp.GetLink()
		require.Equal(t, rules.Cancelled, cancelled.GetStatus())
		require.Equal(t, cancelled.GetUpdatedAt().AsTime(), cancelled.GetCancelledAt().AsTime())
		require.True(t, cancelled.GetUpdatedAt().AsTime().After(link.GetUpdatedAt().AsTime()))
		require.True(t, proto.Equal(cancelled, f.read(t, link)))
		require.NotContains(t, cancelled.String(), "Marked")

		second := cancelOf(link)
		second.Reason = "Another"
		again, err := f.client.CancelPersonalLink(f.post("k2"), second)
		require.NoError(t, err)
		require.True(t, proto.Equal(cancelled, again.GetLink()), "unchanged")
		require.Equal(t, []string{"personal_link.created", "personal_link.cancelled"}, f.kinds(t, link.GetId()))
		require.EqualValues(t, 7, f.events(t)[1].origin)
		stored, err := f.store.Get(t.Context(), f.tenant, link.GetId())
		require.NoError(t, err)
		require.Equal(t, "Marked reason", *stored.Reason)

		var action, kind, actor string
		require.NoError(t,
			f.pool.QueryRow(t.Context(), "SELECT action, actor_kind, actor_id FROM link_audit WHERE link_id = $1", link.GetId()).
				Scan(&action, &kind, &actor))
		require.Equal(t, []string{"CANCELLED", "API_KEY", "7"}, []string{action, kind, actor})
		replayed, err := f.client.CancelPersonalLink(f.post("k"), cancelOf(link))
		require.NoError(t, err)
		require.True(t, proto.Equal(cancelled, replayed.GetLink()))
	}
}

func TestAnEndedLinkCannotBeCancelled(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	for status, set := range map[string]string{
		"CLAIMED": "status = 'CLAIMED', order_id = gen_random_uuid(), claimed_at = now()", "EXPIRED": "status = 'EXPIRED'",
	} {
		link := f.newLink(t)
		_, err := f.pool.Exec(t.Context(), "UPDATE links SET "+set+" WHERE id = $1", link.GetId())
		require.NoError(t, err)
		for range 2 {
			_, err = f.client.CancelPersonalLink(f.post(status), cancelOf(link))
			p, ok := problem.As(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, problem.NotCancellable, p.Code)
			require.Equal(t, status, p.CurrentStatus)
		}
		require.Equal(t, []string{"personal_link.created"}, f.kinds(t, link.GetId()))
	}
}

func TestACancellationReconcilesAClaimInFlightFirst(t *testing.T) {
	t.Parallel()
	t.Run("the cancellation wins before the order is placed", func(t *testing.T) {
		f := setup(t)
		link := f.newLink(t)
		f.orders.During(func() {
			_, err := f.client.CancelPersonalLink(f.post("k"), cancelOf(link))
			require.NoError(t, err)
		})
		resp, err := f.site.ClaimLink(t.Context(), claimOf(link))
		require.NoError(t, err)
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
		p, ok := problem.As(err)
		require.True(t, ok, "%v", err)
		require.Equal(t, problem.NotCancellable, p.Code)
		require.Equal(t, "CLAIMED", p.CurrentStatus)
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
		var group errgroup.Group
		var state linksv1.ClaimState
		var cancelErr error
		group.Go(func() error {
			resp, err := f.site.ClaimLink(t.Context(), claimOf(link))
			state = resp.GetState()
			return err
		})
		group.Go(func() error {
			_, cancelErr = f.client.CancelPersonalLink(f.post(newID()), cancelOf(link))
			return nil
		})
		require.NoError(t, group.Wait())
		after := f.read(t, link)
		if cancelErr == nil {
			require.Equal(t, rules.Cancelled, after.GetStatus())
			require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, state)
			require.Equal(t, []string{"personal_link.created", "personal_link.cancelled"}, f.kinds(t, link.GetId()))
			continue
		}
		claimed++
		require.True(t, problem.Is(cancelErr, problem.NotCancellable), "%v", cancelErr)
		require.Equal(t, rules.Claimed, after.GetStatus())
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, state)
		require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, f.kinds(t, link.GetId()))
	}
	require.Len(t, f.orders.Placed(), claimed)
}
