package server_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// callsAs are all calls of the operations plane on a link and its batch.
func (f *fixture) callsAs(by *commonv1.Actor, tenantID, linkID, batchID string) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"ApprovePersonalLink": func(ctx context.Context) error {
			_, err := f.operations.ApprovePersonalLink(ctx,
				&linksv1.ApprovePersonalLinkRequest{Actor: by, TenantId: tenantID, LinkId: linkID})
			return err
		},
		"ApprovePersonalLinkBatch": func(ctx context.Context) error {
			_, err := f.operations.ApprovePersonalLinkBatch(ctx, &linksv1.ApprovePersonalLinkBatchRequest{
				Actor: by, TenantId: tenantID, BatchId: batchID,
			})
			return err
		},
		"CancelPersonalLinkAs": func(ctx context.Context) error {
			_, err := f.operations.CancelPersonalLinkAs(ctx, &linksv1.CancelPersonalLinkAsRequest{
				Actor: by, TenantId: tenantID, LinkId: linkID, Reason: "x",
			})
			return err
		},
		"ReadPersonalLink": func(ctx context.Context) error {
			_, err := f.operations.ReadPersonalLink(ctx, &linksv1.ReadPersonalLinkRequest{Actor: by, TenantId: tenantID, LinkId: linkID})
			return err
		},
		"ListPersonalLinkBatch": func(ctx context.Context) error {
			_, err := f.operations.ListPersonalLinkBatch(ctx, &linksv1.ListPersonalLinkBatchRequest{
				Actor: by, TenantId: tenantID, BatchId: batchID,
			})
			return err
		},
	}
}

func TestStrangersReadAndChangeNoLink(t *testing.T) {
	t.Parallel()
	f := setup(t)
	foreign, stranger := newID(), newID()
	f.directory.SetTenant(&tenantstest.Settings{
		Tenant: &tenantsv1.Tenant{Id: foreign},
		Team:   []*tenantsv1.TeamMember{{Id: stranger, Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true}},
	})
	batchID, links := f.waiting(t, 1)
	link := links[0]
	for who, by := range map[string]*commonv1.Actor{
		"an Administrator of another tenant": account(stranger), "a former member": account(formerMember),
		"a made-up person": account(newID()),
	} {
		for name, call := range f.callsAs(by, f.tenant, link.GetId(), batchID) {
			t.Run(name+" by "+who, func(t *testing.T) {
				err := call(t.Context())
				require.True(t, problem.Is(err, problem.NotFound), "%v", err)
			})
		}
	}
	for name, call := range f.callsAs(account(stranger), foreign, link.GetId(), batchID) {
		t.Run(name+" as if the link were of the stranger's tenant", func(t *testing.T) {
			err := call(t.Context())
			require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		})
	}
	for name, call := range f.callsAs(nil, f.tenant, link.GetId(), batchID) {
		t.Run(name+" without an actor", func(t *testing.T) {
			require.True(t, problem.Is(call(t.Context()), problem.InvalidRequest))
		})
	}
	require.True(t, proto.Equal(link, f.read(t, link)))
	require.Zero(t, f.count(t, "link_audit"))
}

func TestEachCallIsForItsPeopleOnly(t *testing.T) {
	t.Parallel()
	f := setup(t)
	batchID, links := f.waiting(t, 1)
	actors := map[string]*commonv1.Actor{
		"Administrator": account(anAdministrator), "Coordinator": account(aCoordinator), "Member": account(aMember),
		"operator": operator(),
		"client":   {Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "c"}, "system": {Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM},
	}
	approvers, team := []string{"Administrator", "Coordinator"}, []string{"Administrator", "Coordinator", "Member", "operator"}
	// In this order the link still waits when it is approved.
	calls := []struct {
		name string
		may  []string
	}{
		{"ReadPersonalLink", team},
		{"ListPersonalLinkBatch", team},
		{"ApprovePersonalLink", approvers},
		{"ApprovePersonalLinkBatch", approvers},
		{"CancelPersonalLinkAs", team},
	}
	require.Len(t, calls, len(linksv1.PersonalLinkOperationsService_ServiceDesc.Methods), "every call is in the table")
	for _, c := range calls {
		for who, by := range actors {
			call := f.callsAs(by, f.tenant, links[0].GetId(), batchID)[c.name]
			t.Run(c.name+" by "+who, func(t *testing.T) {
				if err := call(t.Context()); slices.Contains(c.may, who) {
					require.NoError(t, err)
				} else {
					require.True(t, problem.Is(err, problem.InsufficientScope), "%v", err)
				}
			})
		}
	}
	require.Equal(t, []string{"personal_link.created", "personal_link.approved", "personal_link.cancelled"},
		f.kinds(t, links[0].GetId()), "a repetition changes nothing")
	const approval = "link_audit WHERE action = 'APPROVED' AND actor_kind = 'TENANT_ACCOUNT' AND tenant_id = "
	require.Equal(t, 1, f.count(t, approval+"'"+f.tenant+"'"))
}

// Links of other brands and tenants do not exist for a key, whatever is wrong with its request.
func TestAKeyReadsAndChangesOnlyItsLinks(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, links := f.waiting(t, 1)
	link := links[0]
	for name, c := range map[string]struct {
		ctx context.Context
		id  string
	}{
		"another brand":       {f.post(newID(), newID()), link.GetId()},
		"another tenant":      {f.asTenant(newID()), link.GetId()},
		"an unknown link":     {f.post(newID()), newID()},
		"an id that is no id": {f.post(newID()), "x"},
	} {
		for action, act := range map[string]func() error{
			"read": func() error {
				_, err := f.client.GetPersonalLink(c.ctx, &linksv1.GetPersonalLinkRequest{LinkId: c.id})
				return err
			},
			"cancel": func() error {
				_, err := f.client.CancelPersonalLink(c.ctx, &linksv1.CancelPersonalLinkRequest{LinkId: c.id, Reason: " "})
				return err
			},
			"approve": func() error {
				_, err := f.approveInSandbox(c.ctx, c.id)
				return err
			},
			"claim": func() error {
				_, err := f.claimInSandbox(c.ctx, &linksv1.ClaimSandboxPersonalLinkRequest{LinkId: c.id})
				return err
			},
		} {
			t.Run(action+" of "+name, func(t *testing.T) {
				err := act()
				require.True(t, problem.Is(err, problem.NotFound), "%v", err)
			})
		}
	}
	require.True(t, proto.Equal(link, f.read(t, link)))
}
