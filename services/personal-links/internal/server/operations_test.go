package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

func account(id string) *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: id}
}

func operator() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "op-1"}
}

// waiting makes a batch that waits for approval, and returns its id and links.
func (f *fixture) waiting(t *testing.T, n int) (batchID string, links []*linksv1.PersonalLink) {
	t.Helper()
	f.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = true })
	var recipients []*linksv1.PersonalLinkRecipient
	for range n {
		recipients = append(recipients, ann())
	}
	for _, r := range f.create(t, f.toCampaign(recipients...)) {
		links = append(links, r.GetLink())
	}
	stored, err := f.store.Get(t.Context(), f.tenant, links[0].GetId())
	require.NoError(t, err)
	return stored.BatchID, links
}

func (f *fixture) approve(t *testing.T, a *commonv1.Actor, l *linksv1.PersonalLink) (*linksv1.PersonalLink, error) {
	t.Helper()
	resp, err := f.operations.ApprovePersonalLink(t.Context(),
		&linksv1.ApprovePersonalLinkRequest{Actor: a, TenantId: f.tenant, LinkId: l.GetId()})
	return resp.GetLink(), err
}

func TestTheFormOfAnActorIsChecked(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, links := f.waiting(t, 1)
	ctx := t.Context()
	_, err := f.operations.CancelPersonalLinkAs(ctx, &linksv1.CancelPersonalLinkAsRequest{TenantId: "1"})
	requireViolations(t, err, "reason required", "actor required", "tenantId invalid")
	_, err = f.operations.CancelPersonalLinkAs(ctx, &linksv1.CancelPersonalLinkAsRequest{
		Actor: account("ada@example.com"), TenantId: f.tenant, LinkId: links[0].GetId(), Reason: "x",
	})
	requireViolations(t, err, "actor.id invalid")
}

func TestAWholeBatchIsApprovedByOneCall(t *testing.T) {
	t.Parallel()
	f := setup(t)
	batchID, links := f.waiting(t, 3)
	_, other := f.waiting(t, 1)
	_, err := f.approve(t, account(anAdministrator), links[0])
	require.NoError(t, err)
	f.cancel(t, "k", links[1])
	req := &linksv1.ApprovePersonalLinkBatchRequest{Actor: account(aCoordinator), TenantId: f.tenant, BatchId: batchID}
	_, _, err = f.store.Batch(t.Context(), newID(), batchID, 0, 1)
	require.ErrorIs(t, err, store.ErrNotFound, "another tenant has no such batch")
	for _, want := range []int32{1, 0} {
		resp, err := f.operations.ApprovePersonalLinkBatch(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, want, resp.GetApproved())
	}
	approved := f.read(t, links[2])
	require.Equal(t, rules.Active, approved.GetStatus())
	require.Equal(t, approved.GetUpdatedAt().AsTime(), approved.GetApprovedAt().AsTime())
	require.Equal(t, []string{"personal_link.created", "personal_link.approved"}, f.kinds(t, links[2].GetId()))
	require.Equal(t, []string{"personal_link.created", "personal_link.approved"}, f.kinds(t, links[0].GetId()))
	require.Equal(t, rules.Cancelled, f.read(t, links[1]).GetStatus())
	require.Equal(t, rules.Requested, f.read(t, other[0]).GetStatus(), "another batch still waits")

	req.BatchId = newID()
	_, err = f.operations.ApprovePersonalLinkBatch(t.Context(), req)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
}

func TestTheTeamAndTheOperatorCancelLinksAndReadTheReason(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, a := range []*commonv1.Actor{account(aMember), operator()} {
		link := f.newLink(t)
		resp, err := f.operations.CancelPersonalLinkAs(t.Context(),
			&linksv1.CancelPersonalLinkAsRequest{Actor: a, TenantId: f.tenant, LinkId: link.GetId(), Reason: "Marked reason"})
		require.NoError(t, err)
		require.Equal(t, rules.Cancelled, resp.GetLink().GetStatus())
		require.Zero(t, f.events(t)[len(f.events(t))-1].origin, "the change has no key as its origin")
		read, err := f.operations.ReadPersonalLink(t.Context(),
			&linksv1.ReadPersonalLinkRequest{Actor: a, TenantId: f.tenant, LinkId: link.GetId()})
		require.NoError(t, err)
		require.Equal(t, "Marked reason", read.GetDetails().GetCancellationReason())
		require.Equal(t, "Marked Ann", read.GetDetails().GetLabel())
		require.NotEmpty(t, read.GetDetails().GetBatchId())
	}
	_, err := f.operations.ReadPersonalLink(t.Context(),
		&linksv1.ReadPersonalLinkRequest{Actor: operator(), TenantId: newID(), LinkId: f.newLink(t).GetId()})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	_, err = f.operations.CancelPersonalLinkAs(t.Context(),
		&linksv1.CancelPersonalLinkAsRequest{Actor: operator(), TenantId: f.tenant, LinkId: "42", Reason: "x"})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
}

func TestABatchIsListedInTheOrderOfItsRecipients(t *testing.T) {
	t.Parallel()
	f := setup(t)
	batchID, links := f.waiting(t, 5)
	req := &linksv1.ListPersonalLinkBatchRequest{Actor: operator(), TenantId: f.tenant, BatchId: batchID, Limit: new(int32(2))}
	var got []string
	for {
		page, err := f.operations.ListPersonalLinkBatch(t.Context(), req)
		require.NoError(t, err)
		for _, d := range page.GetItems() {
			got = append(got, d.GetLink().GetId())
		}
		if page.NextCursor == nil {
			break
		}
		req.After = page.NextCursor
	}
	var want []string
	for _, l := range links {
		want = append(want, l.GetId())
	}
	require.Equal(t, want, got)
	req.After = new(page.Bind("personal-link-batch", f.tenant, batchID).Encode([]byte("99999999999")))
	_, err := f.operations.ListPersonalLinkBatch(t.Context(), req)
	requireViolations(t, err, "after invalid")
	req.BatchId, req.Limit = newID(), new(int32(101))
	_, err = f.operations.ListPersonalLinkBatch(t.Context(), req)
	requireViolations(t, err, "limit invalid", "after invalid")
	req.After, req.Limit = nil, nil
	_, err = f.operations.ListPersonalLinkBatch(t.Context(), req)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
}

func TestTheAuditIsAppendOnly(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.cancel(t, "k", f.newLink(t))
	for _, sql := range []string{"UPDATE link_audit SET actor_id = ''", "DELETE FROM link_audit", "TRUNCATE link_audit"} {
		_, err := f.pool.Exec(t.Context(), sql)
		require.Equal(t, "23001", postgres.State(err), "%v", err)
	}
	require.Equal(t, 1, f.count(t, "link_audit"))
}

// A batch may have a thousand links to a thousand gifts. To read the gifts with each of the links would take all memory.
func TestListsOfLinksDoNotReadTheGiftsOfEach(t *testing.T) {
	t.Parallel()
	f := setup(t)
	link := f.create(t, f.toGifts(ann()))[0].GetLink()
	one, err := f.store.Get(t.Context(), f.tenant, link.GetId())
	require.NoError(t, err)
	require.Equal(t, []string{mugID}, one.ProductIDs)
	ofBatch, _, err := f.store.Batch(t.Context(), f.tenant, one.BatchID, -1, 1)
	require.NoError(t, err)
	exported, err := f.store.Export(t.Context(), f.tenant, []string{link.GetId()}, *store.BySandbox(store.Exported))
	require.NoError(t, err)
	by := *store.BySandbox(store.Erased)
	erased, _, err := f.store.ErasePersonalData(t.Context(), f.tenant, []string{link.GetId()}, by, "", time.Now())
	require.NoError(t, err)
	for _, list := range [][]*rules.Link{ofBatch, exported, erased} {
		require.Len(t, list, 1)
		require.Empty(t, list[0].ProductIDs)
	}
}
