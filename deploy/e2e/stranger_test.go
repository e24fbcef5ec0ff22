package e2e_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// testStrangers attacks a tenant with the certificate of the workspace: as the Administrator of another tenant, and as one who is
// made up.
func (s stack) testStrangers(t *testing.T) {
	victim := s.NewKey(t, seed.Approving)
	keyID := victim.GetKey().GetId()
	order := s.requested(t, victim.GetApiKey())
	strangers := map[string]*commonv1.Actor{
		"an Administrator of another tenant": s.administrator(t, seed.Direct),
		"a made-up Administrator":            {Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: uuid.NewString(), Name: "Mallory"},
	}
	for name, actor := range strangers {
		for call, attack := range map[string]func() error{
			"set the webhook URL of a key": func() error {
				_, err := s.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
					Actor: actor, TenantId: seed.Approving, KeyId: keyID, Url: proto.String("https://mallory.example/"),
				})
				return err
			},
			"set it as if the key were of the other tenant": func() error {
				_, err := s.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
					Actor: actor, TenantId: seed.Direct, KeyId: keyID, Url: proto.String("https://mallory.example/"),
				})
				return err
			},
			"become a member of the team": func() error {
				_, err := s.Tenants(t).PutTeamMember(t.Context(), &tenantsv1.PutTeamMemberRequest{
					Actor: actor, TenantId: seed.Approving, Member: &tenantsv1.TeamMember{
						Id: uuid.NewString(), Name: "Mallory", Email: "mallory@stranger.example",
						Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true,
					},
				})
				return err
			},
			"read an address": func() error {
				_, err := s.Orders(t).ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: actor, TenantId: seed.Approving, OrderId: order})
				return err
			},
			"read webhooks": func() error {
				_, err := s.Webhooks(t).ListDeliveries(t.Context(), &webhookv1.ListDeliveriesRequest{
					Actor: actor, TenantId: seed.Approving, KeyId: keyID,
				})
				return err
			},
		} {
			t.Run(name+" cannot "+call, func(t *testing.T) {
				require.Contains(t, []codes.Code{codes.NotFound, codes.PermissionDenied}, status.Code(attack()))
			})
		}
	}
	t.Run("nothing has changed", func(t *testing.T) {
		keys, err := s.Tenants(t).ListKeys(t.Context(), &tenantsv1.ListKeysRequest{
			Actor: s.administrator(t, seed.Approving), TenantId: seed.Approving, Limit: proto.Int32(100),
		})
		require.NoError(t, err)
		for _, key := range keys.GetKeys() {
			require.NotContains(t, key.GetKey().GetWebhookUrl(), "mallory")
		}
		tenant, err := s.Tenants(t).GetTenant(t.Context(), &tenantsv1.GetTenantRequest{Actor: seed.Installer, TenantId: seed.Approving})
		require.NoError(t, err)
		require.NotContains(t, tenant.String(), "Mallory")
	})
}

// administrator is the first Administrator of the tenant's team.
func (s stack) administrator(t *testing.T, tenantID string) *commonv1.Actor {
	t.Helper()
	return s.member(t, tenantID, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR)
}

// member is the first active member of the tenant's team with the role.
func (s stack) member(t *testing.T, tenantID string, role tenantsv1.TeamRole) *commonv1.Actor {
	t.Helper()
	tenant, err := s.Tenants(t).GetTenant(t.Context(), &tenantsv1.GetTenantRequest{Actor: seed.Installer, TenantId: tenantID})
	require.NoError(t, err)
	for _, m := range tenant.GetTeam() {
		if m.GetActive() && m.GetRole() == role {
			return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: m.GetId(), Name: m.GetName()}
		}
	}
	require.Fail(t, "the tenant has no such member", role)
	return nil
}
