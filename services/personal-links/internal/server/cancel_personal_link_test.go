package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func cancelOf(l *linksv1.PersonalLink) *linksv1.CancelPersonalLinkRequest {
	return &linksv1.CancelPersonalLinkRequest{LinkId: l.GetId(), Reason: "Marked reason"}
}

func TestACancelledLinkKeepsItsFirstReason(t *testing.T) {
	for _, approval := range []bool{true, false} {
		b := setup(t)
		b.directory.settings.Tenant.ApprovalRequired = approval
		link := b.newLink(t)
		resp, err := b.client.CancelPersonalLink(b.post("k"), cancelOf(link))
		require.NoError(t, err)
		cancelled := resp.GetLink()
		require.Equal(t, rules.Cancelled, cancelled.GetStatus())
		require.Equal(t, cancelled.GetUpdatedAt().AsTime(), cancelled.GetCancelledAt().AsTime())
		require.True(t, cancelled.GetUpdatedAt().AsTime().After(link.GetUpdatedAt().AsTime()))
		require.True(t, proto.Equal(cancelled, b.read(t, link)))
		require.NotContains(t, cancelled.String(), "Marked")

		second := cancelOf(link)
		second.Reason = "Another"
		again, err := b.client.CancelPersonalLink(b.post("k2"), second)
		require.NoError(t, err)
		require.True(t, proto.Equal(cancelled, again.GetLink()), "unchanged")
		require.Equal(t, []string{"personal_link.created", "personal_link.cancelled"}, b.kinds(t, link.GetId()))
		require.EqualValues(t, 7, b.events(t)[1].origin)
		stored, err := b.store.Get(t.Context(), b.tenant, link.GetId())
		require.NoError(t, err)
		require.Equal(t, "Marked reason", *stored.Reason)

		var action, kind, actor string
		require.NoError(t, b.pool.QueryRow(t.Context(), "SELECT action, actor_kind, actor_id FROM link_audit WHERE link_id = $1", link.GetId()).
			Scan(&action, &kind, &actor))
		require.Equal(t, []string{"CANCELLED", "API_KEY", "7"}, []string{action, kind, actor})
		replayed, err := b.client.CancelPersonalLink(b.post("k"), cancelOf(link))
		require.NoError(t, err)
		require.True(t, proto.Equal(cancelled, replayed.GetLink()))
	}
}

func TestALinkThatEndedOtherwiseCannotBeCancelled(t *testing.T) {
	b := setup(t)
	for status, set := range map[string]string{
		"CLAIMED": "status = 'CLAIMED', order_id = gen_random_uuid(), claimed_at = now()", "EXPIRED": "status = 'EXPIRED'",
	} {
		link := b.newLink(t)
		_, err := b.pool.Exec(t.Context(), "UPDATE links SET "+set+" WHERE id = $1", link.GetId())
		require.NoError(t, err)
		for range 2 {
			_, err = b.client.CancelPersonalLink(b.post(status), cancelOf(link))
			p, ok := problem.As(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, problem.NotCancellable, p.Code)
			require.Equal(t, status, p.CurrentStatus)
		}
		require.Equal(t, []string{"personal_link.created"}, b.kinds(t, link.GetId()))
	}
}

func TestFaultsOfACancellation(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	for reason, want := range map[string]string{"": "required", " \n": "required", strings.Repeat("å", 1001): "too_long"} {
		req := cancelOf(link)
		req.Reason = reason
		_, err := b.client.CancelPersonalLink(b.post(newID()), req)
		requireFaults(t, err, "reason "+want)
	}
	for name, c := range map[string]struct {
		id     string
		brands []string
	}{
		"an unknown id": {newID(), nil}, "an id that is none": {"42", nil}, "a link of another brand": {link.GetId(), []string{newID()}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.client.CancelPersonalLink(b.post(newID(), c.brands...), &linksv1.CancelPersonalLinkRequest{LinkId: c.id, Reason: "x"})
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		})
	}
	t.Run("a link of another tenant", func(t *testing.T) {
		other := *b
		other.tenant = newID()
		_, err := b.client.CancelPersonalLink(other.post(newID()), cancelOf(link))
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
	require.True(t, proto.Equal(link, b.read(t, link)))
	require.Equal(t, 1, b.count(t, "idempotency_answers"), "only that of the batch")
}

func TestALinkIsReadByWhoReachesIt(t *testing.T) {
	b := setup(t)
	link := b.newLink(t)
	own := b.everyBrand()
	own.AllBrands, own.BrandIDs = false, []string{b.brand}
	got, err := b.client.GetPersonalLink(b.as(own), &linksv1.GetPersonalLinkRequest{LinkId: strings.ToUpper(link.GetId())})
	require.NoError(t, err)
	require.True(t, proto.Equal(link, got.GetLink()))

	otherBrand, otherTenant := own, b.everyBrand()
	otherBrand.BrandIDs, otherTenant.TenantID = []string{newID()}, newID()
	for name, c := range map[string]func() error{
		"another brand": func() error {
			_, err := b.client.GetPersonalLink(b.as(otherBrand), &linksv1.GetPersonalLinkRequest{LinkId: link.GetId()})
			return err
		},
		"another tenant": func() error {
			_, err := b.client.GetPersonalLink(b.as(otherTenant), &linksv1.GetPersonalLinkRequest{LinkId: link.GetId()})
			return err
		},
		"no UUID": func() error {
			_, err := b.client.GetPersonalLink(b.as(own), &linksv1.GetPersonalLinkRequest{LinkId: "42"})
			return err
		},
		"unknown": func() error {
			_, err := b.client.GetPersonalLink(b.as(own), &linksv1.GetPersonalLinkRequest{LinkId: newID()})
			return err
		},
	} {
		require.True(t, problem.Is(c(), problem.NotFound), name)
	}
}

func TestACancellationThatMeetsAClaimSettlesItFirst(t *testing.T) {
	t.Run("it wins while the order has not been placed", func(t *testing.T) {
		b := setup(t)
		link := b.newLink(t)
		b.orders.during = func() {
			b.orders.during = nil
			_, err := b.client.CancelPersonalLink(b.post("k"), cancelOf(link))
			require.NoError(t, err)
		}
		resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
		require.NoError(t, err)
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, resp.GetState())
		require.Empty(t, b.orders.placed)
		require.Equal(t, []string{"personal_link.created", "personal_link.cancelled"}, b.kinds(t, link.GetId()))
	})
	t.Run("it loses once the order has been placed", func(t *testing.T) {
		b := setup(t)
		link := b.newLink(t)
		orderID := newID()
		_, err := b.store.Mark(t.Context(), b.tenant, link.GetId(), orderID, time.Hour)
		require.NoError(t, err)
		b.orders.placed[orderID] = nil
		_, err = b.client.CancelPersonalLink(b.post("k"), cancelOf(link))
		p, ok := problem.As(err)
		require.True(t, ok, "%v", err)
		require.Equal(t, problem.NotCancellable, p.Code)
		require.Equal(t, "CLAIMED", p.CurrentStatus)
		require.Equal(t, orderID, b.read(t, link).GetOrderId())
		require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, b.kinds(t, link.GetId()))
	})
}

func TestAClaimAndACancellationAtOnceHaveOneWinner(t *testing.T) {
	b := setup(t)
	claimed := 0
	for range 40 {
		link := b.newLink(t)
		var group errgroup.Group
		var state linksv1.ClaimState
		var cancelErr error
		group.Go(func() error {
			resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
			state = resp.GetState()
			return err
		})
		group.Go(func() error {
			_, cancelErr = b.client.CancelPersonalLink(b.post(newID()), cancelOf(link))
			return nil
		})
		require.NoError(t, group.Wait())
		after := b.read(t, link)
		if cancelErr == nil {
			require.Equal(t, rules.Cancelled, after.GetStatus())
			require.Equal(t, linksv1.ClaimState_CLAIM_STATE_EXPIRED, state)
			require.Equal(t, []string{"personal_link.created", "personal_link.cancelled"}, b.kinds(t, link.GetId()))
			continue
		}
		claimed++
		require.True(t, problem.Is(cancelErr, problem.NotCancellable), "%v", cancelErr)
		require.Equal(t, rules.Claimed, after.GetStatus())
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, state)
		require.Equal(t, []string{"personal_link.created", "personal_link.claimed"}, b.kinds(t, link.GetId()))
	}
	require.Len(t, b.orders.placed, claimed)
}
