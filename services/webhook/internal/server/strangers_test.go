package server_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// settingsOf returns settings with a team of three: an Administrator, and members of the two other roles with the ids
// coordinator-<administrator> and member-<administrator>.
func settingsOf(tenantID, administrator string) *tenantsv1.GetTenantSettingsResponse {
	return &tenantsv1.GetTenantSettingsResponse{Tenant: &tenantsv1.Tenant{Id: tenantID}, Version: 1, Team: []*tenantsv1.TeamMember{
		{Id: administrator, Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true},
		{Id: "coordinator-" + administrator, Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, Active: true},
		{Id: "member-" + administrator, Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true},
	}}
}

// callsAs returns all calls of the operations service by their name. They are about the tenant and its event.
func (o *operations) callsAs(by *commonv1.Actor, tenantID, eventID string) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"ListDeliveries": func(ctx context.Context) error {
			_, err := o.ListDeliveries(ctx, &webhookv1.ListDeliveriesRequest{Actor: by, TenantId: tenantID, KeyId: 7})
			return err
		},
		"GetBacklog": func(ctx context.Context) error {
			_, err := o.GetBacklog(ctx, &webhookv1.GetBacklogRequest{Actor: by, TenantId: tenantID})
			return err
		},
		"GetDelivery": func(ctx context.Context) error {
			_, err := o.GetDelivery(ctx, &webhookv1.GetDeliveryRequest{Actor: by, TenantId: tenantID, KeyId: 7, EventId: eventID})
			return err
		},
		"ResendDelivery": func(ctx context.Context) error {
			_, err := o.ResendDelivery(ctx, &webhookv1.ResendDeliveryRequest{Actor: by, TenantId: tenantID, KeyId: 7, EventId: eventID})
			return err
		},
		"ResendDeliveries": func(ctx context.Context) error {
			_, err := o.ResendDeliveries(ctx, &webhookv1.ResendDeliveriesRequest{
				Actor: by, TenantId: tenantID, KeyId: 7,
				RecordedFrom: timestamppb.New(time.Now().Add(-time.Second)), RecordedBefore: timestamppb.Now(),
			})
			return err
		},
	}
}

func account(id string) *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: id}
}

func TestStrangersSeeAndChangeNoDelivery(t *testing.T) {
	t.Parallel()
	o := newOperations(t)
	event := o.add(7)
	o.attempt(failed, rules.Answered(500))
	before := o.get(7, event).String()
	for who, by := range map[string]*commonv1.Actor{
		"an Administrator of another tenant": account("stranger"),
		"a made-up person":                   account(uuid.NewString()),
		"a client":                           {Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: "client-1"},
	} {
		for name, call := range o.callsAs(by, tenant, event) {
			t.Run(name+" by "+who, func(t *testing.T) {
				want := problem.NotFound
				if by.GetKind() == commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT {
					want = problem.InsufficientScope
				}
				require.True(t, problem.Is(call(t.Context()), want))
			})
		}
	}
	for name, call := range o.callsAs(account("stranger"), otherTenant, event) {
		t.Run(name+" of another tenant's delivery", func(t *testing.T) {
			if err := call(t.Context()); name == "GetDelivery" || name == "ResendDelivery" {
				require.True(t, problem.Is(err, problem.NotFound), "%v", err)
			} else {
				require.NoError(t, err, "the stranger's own tenant has no deliveries")
			}
		})
	}
	for name, call := range o.callsAs(nil, tenant, event) {
		t.Run(name+" without an actor", func(t *testing.T) {
			require.True(t, problem.Is(call(t.Context()), problem.InvalidRequest))
		})
	}
	require.Equal(t, before, o.get(7, event).String())
	require.Equal(t, 1, o.woken, "only ResendDeliveries of the stranger's own tenant wakes the sender")
}

func TestATeamMemberMayMakeTheCallsOfTheRole(t *testing.T) {
	t.Parallel()
	o := newOperations(t)
	event := o.add(7)
	reads := map[string]bool{"ListDeliveries": true, "GetBacklog": true}
	for _, id := range []string{"ann", "coordinator-ann", "member-ann"} {
		for name, call := range o.callsAs(account(id), tenant, event) {
			t.Run(name+" by "+id, func(t *testing.T) {
				if err := call(t.Context()); id != "member-ann" || reads[name] {
					require.NoError(t, err)
				} else {
					require.True(t, problem.Is(err, problem.InsufficientScope), "%v", err)
				}
			})
		}
	}
}
