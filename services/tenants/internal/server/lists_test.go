package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestTenantsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	oldest, middle, newest := f.tenant(), f.leaving(), f.tenant()
	f.setAccess(oldest, false)
	var got []*tenantsv1.TenantRecord
	for req := (&tenantsv1.ListTenantsRequest{Actor: staff, Limit: pointer(int32(2))}); ; {
		page := call(t, f.ops.ListTenants, req)
		got = append(got, page.GetTenants()...)
		if req.After = page.NextCursor; req.After == nil {
			break
		}
	}
	require.Len(t, got, 3)
	for i, want := range []string{newest, middle, oldest} {
		require.Equal(t, want, got[i].GetTenant().GetId())
		require.Equal(t, want == newest, got[i].GetApiAccess())
		require.True(t, got[i].GetCreatedAt().IsValid())
	}
	require.Equal(t, tenantsv1.OffboardingState_OFFBOARDING_STATE_DISABLED, got[1].GetOffboarding())
	require.Zero(t, got[0].GetOffboarding())
	invalid(t, f.ops.ListTenants, &tenantsv1.ListTenantsRequest{Limit: pointer(int32(0)), After: pointer("x")},
		"actor required", "limit invalid", "after invalid")
}

func TestATenantIsReadWithItsBrandsTeamAndFields(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	f.brand(other, "Borealis")
	brand := f.brand(tenant, "Aurora")
	ann := f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_MEMBER, true)
	former := f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, false)
	field := &tenantsv1.CustomField{Id: newID(), Label: "Tier", Type: textField}
	call(t, f.ops.PutCustomField, &tenantsv1.PutCustomFieldRequest{Actor: staff, TenantId: tenant, Field: field, Position: 7})

	got := call(t, f.ops.GetTenant, &tenantsv1.GetTenantRequest{Actor: ann, TenantId: tenant})
	require.Equal(t, tenant, got.GetTenant().GetTenant().GetId())
	require.True(t, got.GetTenant().GetApiAccess())
	require.Len(t, got.GetBrands(), 1)
	require.Equal(t, brand, got.GetBrands()[0].GetId())
	require.Len(t, got.GetTeam(), 2)
	active := map[string]bool{}
	for _, m := range got.GetTeam() {
		active[m.GetId()] = m.GetActive()
	}
	require.Equal(t, map[string]bool{ann.GetId(): true, former.GetId(): false}, active)
	require.Len(t, got.GetCustomFields(), 1)
	require.Equal(t, field.String(), got.GetCustomFields()[0].GetField().String())
	require.EqualValues(t, 7, got.GetCustomFields()[0].GetPosition())
	refused(t, problem.NotFound, f.ops.GetTenant, &tenantsv1.GetTenantRequest{Actor: staff, TenantId: newID()})
	invalid(t, f.ops.GetTenant, &tenantsv1.GetTenantRequest{}, "actor required", "tenantId required")
}

func TestKeysAreListedWithoutSecrets(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	f.key(other)
	first, second, revoked := f.key(tenant), f.key(tenant), f.key(tenant)
	call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: tenant, KeyId: revoked.GetKey().GetId()})
	req := &tenantsv1.ListKeysRequest{Actor: f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true), TenantId: tenant, Limit: pointer(int32(1))}
	var got []*tenantsv1.KeyRecord
	for {
		page := call(t, f.ops.ListKeys, req)
		for _, made := range []*tenantsv1.CreateKeyResponse{first, second, revoked} {
			require.NotContains(t, page.String(), made.GetApiKey())
			require.NotContains(t, page.String(), made.GetWebhookSecret())
		}
		got = append(got, page.GetKeys()...)
		if req.After = page.NextCursor; req.After == nil {
			break
		}
	}
	require.Len(t, got, 2, "without the revoked one and those of the other tenant")
	require.Equal(t, second.GetKey().String(), got[0].GetKey().String(), "an Administrator sees the whole URL")
	require.Equal(t, first.GetKey().String(), got[1].GetKey().String())

	all := call(t, f.ops.ListKeys, &tenantsv1.ListKeysRequest{Actor: staff, TenantId: tenant, RevokedToo: true})
	require.Len(t, all.GetKeys(), 3)
	require.NotNil(t, all.GetKeys()[0].GetRevokedAt())
	require.Nil(t, all.GetKeys()[1].GetRevokedAt())

	member := f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_MEMBER, true)
	for _, k := range call(t, f.ops.ListKeys, &tenantsv1.ListKeysRequest{Actor: member, TenantId: tenant}).GetKeys() {
		require.Nil(t, k.GetKey().WebhookUrl, "its path may be a secret")
		require.Equal(t, "hooks.example.com", k.GetWebhookHost())
	}
	page := call(t, f.ops.ListKeys, &tenantsv1.ListKeysRequest{Actor: staff, TenantId: tenant, Limit: pointer(int32(1))})
	for _, after := range []string{"x", page.GetNextCursor()} {
		invalid(t, f.ops.ListKeys, &tenantsv1.ListKeysRequest{Actor: staff, TenantId: other, After: &after}, "after invalid")
	}
	refused(t, problem.NotFound, f.ops.ListKeys, &tenantsv1.ListKeysRequest{Actor: staff, TenantId: newID()})
}
