package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func (f *fixture) name(l *linksv1.PersonalLink) *linksv1.LinkName {
	return &linksv1.LinkName{TenantId: f.tenant, LinkId: l.GetId()}
}

func (f *fixture) set(t *testing.T, l *linksv1.PersonalLink, columns string) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(), "UPDATE links SET "+columns+" WHERE id = $1", l.GetId())
	require.NoError(t, err)
}

func (f *fixture) eventsOf(t *testing.T, l *linksv1.PersonalLink, kind string) (n int) {
	t.Helper()
	require.NoError(t,
		f.pool.QueryRow(t.Context(), "SELECT count(*) FROM outbox WHERE subject_id = $1 AND type = $2", l.GetId(), kind).Scan(&n))
	return n
}

func TestClaimsAreListedByTheirLinks(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	claimed, open := map[string]bool{}, f.newLink(t)
	for range 5 {
		link := f.newLink(t)
		f.set(t, link, "status = 'CLAIMED', order_id = gen_random_uuid(), claimed_at = now()")
		claimed[link.GetId()] = true
	}
	f.set(t, open, "claim_order_id = gen_random_uuid(), claim_lease_until = now()")

	t.Run("page by page, if they are claimed", func(t *testing.T) {
		request := &linksv1.ListClaimRecordsRequest{Limit: 2}
		for last := false; !last; {
			page, err := f.claimRecords.ListClaimRecords(t.Context(), request)
			require.NoError(t, err)
			for _, record := range page.GetRecords() {
				require.True(t, claimed[record.GetLink().GetLinkId()])
				require.NotEmpty(t, record.GetOrderId())
				delete(claimed, record.GetLink().GetLinkId())
				request.After = record.GetLink()
			}
			last = len(page.GetRecords()) < 2
		}
		require.Empty(t, claimed)
	})
	t.Run("or by name, in every status", func(t *testing.T) {
		stranger := &linksv1.LinkName{TenantId: newID(), LinkId: open.GetId()}
		page, err := f.claimRecords.ListClaimRecords(t.Context(),
			&linksv1.ListClaimRecordsRequest{Links: []*linksv1.LinkName{f.name(open), stranger}})
		require.NoError(t, err)
		require.Len(t, page.GetRecords(), 1)
		record := page.GetRecords()[0]
		require.Equal(t, linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_ACTIVE, record.GetStatus())
		require.True(t, record.GetInFlight())
		require.Nil(t, record.OrderId)
	})
	t.Run("and a page has a limit", func(t *testing.T) {
		for _, request := range []*linksv1.ListClaimRecordsRequest{
			{},
			{Limit: 5001},
			{Limit: 1, After: &linksv1.LinkName{}},
			{Links: make([]*linksv1.LinkName, 1)},
			{Links: make([]*linksv1.LinkName, 5001)},
		} {
			_, err := f.claimRecords.ListClaimRecords(t.Context(), request)
			require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
		}
	})
}

func TestALeaseEndsInTimeAlsoIfTheClockWasAheadWhenItBegan(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	link := f.newLink(t)
	for until, ended := range map[string]bool{
		"now() + interval '1 minute'": false, "now()": true, "now() + interval '1 year'": true,
	} {
		f.set(t, link, "claim_order_id = gen_random_uuid(), claim_lease_until = "+until)
		read, err := f.store.Get(t.Context(), f.tenant, link.GetId())
		require.NoError(t, err)
		require.Equal(t, ended, read.ClaimExpired)
		taken, err := f.store.TakeExpiredClaims(t.Context(), time.Minute, 1)
		require.NoError(t, err)
		require.Equal(t, ended, len(taken) == 1)
	}
}

func TestALostClaimIsRestoredOnceAndOnlyIfTheLinkAllowsIt(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	lost := newID()
	for name, tc := range map[string]struct {
		columns  string
		lost     *string
		restored bool
	}{
		"an open link":              {"status = 'ACTIVE'", nil, true},
		"a link that waits":         {"status = 'REQUESTED'", nil, true},
		"with an order that is not": {"status = 'CLAIMED', claimed_at = now(), order_id = '" + lost + "'", &lost, true},
		"with another order":        {"status = 'CLAIMED', claimed_at = now(), order_id = gen_random_uuid()", &lost, false},
		"a claim in flight":         {"claim_order_id = gen_random_uuid(), claim_lease_until = now()", nil, false},
		"a cancelled link":          {"status = 'CANCELLED', cancelled_at = now()", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			link, order, placed := f.newLink(t), newID(), time.Now().Add(-time.Minute)
			f.set(t, link, tc.columns)
			before := f.read(t, link)
			request := &linksv1.RestoreClaimRequest{
				Link: f.name(link), OrderId: order, PlacedAt: timestamppb.New(placed), LostOrderId: tc.lost,
			}
			for range 2 {
				resp, err := f.claimRecords.RestoreClaim(t.Context(), request)
				require.NoError(t, err)
				require.Equal(t, tc.restored, resp.GetRecord().GetOrderId() == order)
			}
			after := f.read(t, link)
			if !tc.restored {
				require.Equal(t, before.String(), after.String())
				require.Zero(t, f.eventsOf(t, link, "personal_link.claimed"))
				return
			}
			require.Equal(t, linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_CLAIMED, after.GetStatus())
			require.Equal(t, order, after.GetOrderId())
			require.Equal(t, 1, f.eventsOf(t, link, "personal_link.claimed"))
		})
	}
	t.Run("a link that does not exist", func(t *testing.T) {
		_, err := f.claimRecords.RestoreClaim(t.Context(), &linksv1.RestoreClaimRequest{
			Link: &linksv1.LinkName{TenantId: f.tenant, LinkId: newID()}, OrderId: newID(),
		})
		require.True(t, problem.Is(err, problem.NotFound))
	})
}
