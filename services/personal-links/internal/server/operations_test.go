package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func account(id string) *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: id}
}

func operator() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "op-1"}
}

// waiting makes a batch that waits for approval and gives its id with the links.
func (b *bench) waiting(t *testing.T, n int) (batchID string, links []*linksv1.PersonalLink) {
	t.Helper()
	b.directory.settings.Tenant.ApprovalRequired = true
	var recipients []*linksv1.PersonalLinkRecipient
	for range n {
		recipients = append(recipients, ann())
	}
	for _, r := range b.create(t, b.toCampaign(recipients...)) {
		links = append(links, r.GetLink())
	}
	stored, err := b.store.Get(t.Context(), b.tenant, links[0].GetId())
	require.NoError(t, err)
	return *stored.BatchID, links
}

func (b *bench) approve(t *testing.T, a *commonv1.Actor, l *linksv1.PersonalLink) (*linksv1.PersonalLink, error) {
	t.Helper()
	resp, err := b.operations.ApprovePersonalLink(t.Context(),
		&linksv1.ApprovePersonalLinkRequest{Actor: a, TenantId: b.tenant, LinkId: l.GetId()})
	return resp.GetLink(), err
}

func TestAnAdministratorOrCoordinatorApprovesALink(t *testing.T) {
	b := setup(t)
	_, links := b.waiting(t, 2)
	for i, id := range []string{anAdministrator, aCoordinator} {
		link := links[i]
		approved, err := b.approve(t, account(id), link)
		require.NoError(t, err)
		require.Equal(t, rules.Active, approved.GetStatus())
		require.Equal(t, approved.GetUpdatedAt().AsTime(), approved.GetApprovedAt().AsTime())
		require.True(t, proto.Equal(approved, b.read(t, link)))

		again, err := b.approve(t, account(id), link)
		require.NoError(t, err)
		require.True(t, proto.Equal(approved, again), "unchanged")
		require.Equal(t, []string{"personal_link.created", "personal_link.approved"}, b.kinds(t, link.GetId()))
		resp, err := b.site.ClaimLink(t.Context(), claimOf(link))
		require.NoError(t, err)
		require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, resp.GetState())
		claimed, err := b.approve(t, account(id), link)
		require.NoError(t, err)
		require.Equal(t, rules.Claimed, claimed.GetStatus())
	}
	rows := b.count(t, "link_audit WHERE action = 'APPROVED' AND actor_kind = 'TENANT_ACCOUNT'")
	require.Equal(t, 2, rows)
}

func TestACancelledLinkCannotBeApproved(t *testing.T) {
	b := setup(t)
	_, links := b.waiting(t, 1)
	_, err := b.client.CancelPersonalLink(b.post("k"), cancelOf(links[0]))
	require.NoError(t, err)
	_, err = b.approve(t, account(anAdministrator), links[0])
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, problem.NotEditable, p.Code)
	require.Equal(t, "CANCELLED", p.CurrentStatus)
}

func TestWhoMayNotActIsRefused(t *testing.T) {
	b := setup(t)
	batchID, links := b.waiting(t, 1)
	link := links[0]
	ctx := t.Context()
	client := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "c"}
	system := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}
	approvers := []*commonv1.Actor{account(aMember), account(formerMember), account(newID()), operator(), client, system}
	for _, a := range approvers {
		_, err := b.approve(t, a, link)
		require.True(t, problem.Is(err, problem.InsufficientScope), "%v: %v", a, err)
		_, err = b.operations.ApprovePersonalLinkBatch(ctx, &linksv1.ApprovePersonalLinkBatchRequest{Actor: a, TenantId: b.tenant, BatchId: batchID})
		require.True(t, problem.Is(err, problem.InsufficientScope), "%v: %v", a, err)
	}
	for _, a := range []*commonv1.Actor{account(formerMember), account(newID()), client, system} {
		_, err := b.operations.CancelPersonalLinkAs(ctx, &linksv1.CancelPersonalLinkAsRequest{Actor: a, TenantId: b.tenant, LinkId: link.GetId(), Reason: "x"})
		require.True(t, problem.Is(err, problem.InsufficientScope), "%v: %v", a, err)
		_, err = b.operations.ReadPersonalLink(ctx, &linksv1.ReadPersonalLinkRequest{Actor: a, TenantId: b.tenant, LinkId: link.GetId()})
		require.True(t, problem.Is(err, problem.InsufficientScope), "%v: %v", a, err)
		_, err = b.operations.ListPersonalLinkBatch(ctx, &linksv1.ListPersonalLinkBatchRequest{Actor: a, TenantId: b.tenant, BatchId: batchID})
		require.True(t, problem.Is(err, problem.InsufficientScope), "%v: %v", a, err)
	}
	require.True(t, proto.Equal(link, b.read(t, link)))
	require.Zero(t, b.count(t, "link_audit"))

	_, err := b.operations.CancelPersonalLinkAs(ctx, &linksv1.CancelPersonalLinkAsRequest{TenantId: "1"})
	requireFaults(t, err, "reason required", "actor required", "tenantId invalid")
	_, err = b.operations.CancelPersonalLinkAs(ctx, &linksv1.CancelPersonalLinkAsRequest{
		Actor: account("ada@example.com"), TenantId: b.tenant, LinkId: link.GetId(), Reason: "x",
	})
	requireFaults(t, err, "actor.id invalid")
}

func TestAWholeBatchIsApprovedAtOnce(t *testing.T) {
	b := setup(t)
	batchID, links := b.waiting(t, 3)
	_, other := b.waiting(t, 1)
	_, err := b.approve(t, account(anAdministrator), links[0])
	require.NoError(t, err)
	_, err = b.client.CancelPersonalLink(b.post("k"), cancelOf(links[1]))
	require.NoError(t, err)
	req := &linksv1.ApprovePersonalLinkBatchRequest{Actor: account(aCoordinator), TenantId: b.tenant, BatchId: batchID}
	for _, want := range []int32{1, 0} {
		resp, err := b.operations.ApprovePersonalLinkBatch(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, want, resp.GetApproved())
	}
	approved := b.read(t, links[2])
	require.Equal(t, rules.Active, approved.GetStatus())
	require.Equal(t, approved.GetUpdatedAt().AsTime(), approved.GetApprovedAt().AsTime())
	require.Equal(t, []string{"personal_link.created", "personal_link.approved"}, b.kinds(t, links[2].GetId()))
	require.Equal(t, []string{"personal_link.created", "personal_link.approved"}, b.kinds(t, links[0].GetId()))
	require.Equal(t, rules.Cancelled, b.read(t, links[1]).GetStatus())
	require.Equal(t, rules.Requested, b.read(t, other[0]).GetStatus(), "another batch waits on")

	req.BatchId = newID()
	_, err = b.operations.ApprovePersonalLinkBatch(t.Context(), req)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
}

func TestTheTeamAndTheOperatorCancelAndReadWhatTheyWrote(t *testing.T) {
	b := setup(t)
	for _, a := range []*commonv1.Actor{account(aMember), operator()} {
		link := b.newLink(t)
		resp, err := b.operations.CancelPersonalLinkAs(t.Context(),
			&linksv1.CancelPersonalLinkAsRequest{Actor: a, TenantId: b.tenant, LinkId: link.GetId(), Reason: "Marked reason"})
		require.NoError(t, err)
		require.Equal(t, rules.Cancelled, resp.GetLink().GetStatus())
		require.Zero(t, b.events(t)[len(b.events(t))-1].origin, "no key did it")
		read, err := b.operations.ReadPersonalLink(t.Context(), &linksv1.ReadPersonalLinkRequest{Actor: a, TenantId: b.tenant, LinkId: link.GetId()})
		require.NoError(t, err)
		require.Equal(t, "Marked reason", read.GetDetails().GetCancellationReason())
		require.Equal(t, "Marked Ann", read.GetDetails().GetLabel())
		require.NotEmpty(t, read.GetDetails().GetBatchId())
	}
	_, err := b.operations.ReadPersonalLink(t.Context(), &linksv1.ReadPersonalLinkRequest{Actor: operator(), TenantId: newID(), LinkId: b.newLink(t).GetId()})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	_, err = b.operations.CancelPersonalLinkAs(t.Context(),
		&linksv1.CancelPersonalLinkAsRequest{Actor: operator(), TenantId: b.tenant, LinkId: "42", Reason: "x"})
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
}

func TestABatchIsListedInTheOrderOfItsRecipients(t *testing.T) {
	b := setup(t)
	batchID, links := b.waiting(t, 5)
	req := &linksv1.ListPersonalLinkBatchRequest{Actor: operator(), TenantId: b.tenant, BatchId: batchID, Limit: pointer[int32](2)}
	var got []string
	for {
		page, err := b.operations.ListPersonalLinkBatch(t.Context(), req)
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
	req.After = pointer(cursor.Bind("personal-link-batch", b.tenant, batchID).Encode([]byte("99999999999")))
	_, err := b.operations.ListPersonalLinkBatch(t.Context(), req)
	requireFaults(t, err, "after invalid")
	req.BatchId, req.Limit = newID(), pointer[int32](101)
	_, err = b.operations.ListPersonalLinkBatch(t.Context(), req)
	requireFaults(t, err, "limit invalid", "after invalid")
	req.After, req.Limit = nil, nil
	_, err = b.operations.ListPersonalLinkBatch(t.Context(), req)
	require.True(t, problem.Is(err, problem.NotFound), "%v", err)
}

func TestTheAuditIsAppendOnly(t *testing.T) {
	b := setup(t)
	_, err := b.client.CancelPersonalLink(b.post("k"), cancelOf(b.newLink(t)))
	require.NoError(t, err)
	for _, sql := range []string{"UPDATE link_audit SET actor_id = ''", "DELETE FROM link_audit", "TRUNCATE link_audit"} {
		_, err := b.pool.Exec(t.Context(), sql)
		require.Equal(t, "23001", postgres.State(err), "%v", err)
	}
	require.Equal(t, 1, b.count(t, "link_audit"))
}
