package server_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestTenantsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	oldest, middle, newest := f.tenant(), f.leaving(), f.tenant()
	f.setAccess(oldest, false)
	got := pagetest.All(func(after *string) ([]*tenantsv1.TenantRecord, *string) {
		page := call(t, f.ops.ListTenants, &tenantsv1.ListTenantsRequest{Actor: staff, Limit: pointer(int32(2)), After: after})
		return page.GetTenants(), page.NextCursor
	})
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
	requireRefused(t, problem.NotFound, f.ops.GetTenant, &tenantsv1.GetTenantRequest{Actor: staff, TenantId: newID()})
	invalid(t, f.ops.GetTenant, &tenantsv1.GetTenantRequest{}, "actor required", "tenantId required")
}

func TestKeysAreListedWithoutSecrets(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	f.createKey(other)
	first, second, revoked := f.createKey(tenant), f.createKey(tenant), f.createKey(tenant)
	call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: tenant, KeyId: revoked.GetKey().GetId()})
	req := &tenantsv1.ListKeysRequest{
		Actor: f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true), TenantId: tenant, Limit: pointer(int32(1)),
	}
	got := pagetest.All(func(after *string) ([]*tenantsv1.KeyRecord, *string) {
		req.After = after
		page := call(t, f.ops.ListKeys, req)
		for _, made := range []*tenantsv1.CreateKeyResponse{first, second, revoked} {
			require.NotContains(t, page.String(), made.GetApiKey())
			require.NotContains(t, page.String(), made.GetWebhookSecret())
		}
		return page.GetKeys(), page.NextCursor
	})
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
	requireRefused(t, problem.NotFound, f.ops.ListKeys, &tenantsv1.ListKeysRequest{Actor: staff, TenantId: newID()})
}

// audit returns all entries, newest first, read in pages of two.
func (f *fixture) audit(tenantID string, keyID *int32) []*tenantsv1.KeyAuditEntry {
	f.t.Helper()
	req := &tenantsv1.ListKeyAuditRequest{Actor: staff, TenantId: tenantID, KeyId: keyID, Limit: pointer(int32(2))}
	return pagetest.All(func(after *string) ([]*tenantsv1.KeyAuditEntry, *string) {
		req.After = after
		page := call(f.t, f.ops.ListKeyAudit, req)
		return page.GetEntries(), page.NextCursor
	})
}

func TestEveryChangeOfAKeyIsInTheAuditWithItsActor(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	brand := f.brand(tenant, "Aurora")
	f.createKey(other)
	neighbour := f.createKey(tenant).GetKey().GetId()
	made := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
		TenantId: tenant, Name: "Shop", AllBrands: true, Actor: staff, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	})
	id := made.GetKey().GetId()
	update := &tenantsv1.UpdateKeyRequest{TenantId: tenant, KeyId: id, Actor: staff, Name: "Links", BrandIds: []string{brand}}
	setURL := &tenantsv1.SetWebhookUrlRequest{
		TenantId: tenant, KeyId: id, Actor: staff, Url: pointer("https://hooks.example.com/secret-path"),
	}
	for range 2 { // What a repetition does not change has no entry.
		call(t, f.ops.UpdateKey, update)
		call(t, f.ops.SetWebhookUrl, setURL)
	}
	rotated := call(t, f.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{Actor: staff, TenantId: tenant, KeyId: id})
	for range 2 {
		call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{TenantId: tenant, KeyId: id, Actor: staff})
	}
	requireRefused(t, problem.NotFound, f.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{
		TenantId: tenant, KeyId: id, Actor: staff,
	})

	someone := &commonv1.Actor{Kind: staff.GetKind(), Id: staff.GetId()}
	shop := `{"name": "Shop", "scopes": ["ORDERS"], "brandIds": [], "allBrands": true}`
	links := `{"name": "Links", "scopes": [], "brandIds": ["` + brand + `"], "allBrands": false}`
	hooked := `{"name": "Links", "scopes": [], "brandIds": ["` + brand + `"], "allBrands": false, "webhookHost": "hooks.example.com"}`
	want := []*tenantsv1.KeyAuditEntry{
		{Action: tenantsv1.KeyAction_KEY_ACTION_REVOKE, Actor: someone, Detail: `{}`},
		{Action: tenantsv1.KeyAction_KEY_ACTION_ROTATE_WEBHOOK_SECRET, Actor: someone, Detail: `{}`},
		{
			Action: tenantsv1.KeyAction_KEY_ACTION_SET_WEBHOOK_URL, Actor: someone,
			Detail: `{"before": ` + links + `, "after": ` + hooked + `}`,
		},
		{Action: tenantsv1.KeyAction_KEY_ACTION_UPDATE, Actor: someone, Detail: `{"before": ` + shop + `, "after": ` + links + `}`},
		{Action: tenantsv1.KeyAction_KEY_ACTION_CREATE, Actor: someone, Detail: `{"after": ` + shop + `}`},
	}
	got := f.audit(tenant, &id)
	require.Len(t, got, len(want))
	for i, e := range got {
		require.Equal(t, want[i].GetAction(), e.GetAction())
		require.Equal(t, want[i].GetActor().String(), e.GetActor().String())
		require.JSONEq(t, want[i].GetDetail(), e.GetDetail())
		require.Equal(t, id, e.GetKeyId())
		require.True(t, e.GetAt().IsValid())
		for _, secret := range []string{
			made.GetApiKey(), made.GetWebhookSecret(), rotated.GetWebhookSecret(), "secret-path", staff.GetName(),
		} {
			require.NotContains(t, e.String(), secret)
		}
	}
	all := f.audit(tenant, nil)
	require.Len(t, all, len(want)+1)
	require.Equal(t, neighbour, all[len(want)].GetKeyId())
	require.Empty(t, f.audit(other, &id), "a tenant sees only its own keys")
}

func TestTheAuditIsReadInPages(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	id := f.createKey(tenant).GetKey().GetId()
	f.createKey(tenant)
	invalid(t, f.ops.ListKeyAudit, &tenantsv1.ListKeyAuditRequest{
		Actor: staff, TenantId: "x", Limit: pointer(int32(0)),
	}, "tenantId invalid", "limit invalid")
	base := &tenantsv1.ListKeyAuditRequest{Actor: staff, TenantId: tenant, Limit: pointer(int32(1))}
	pagetest.RequireBound(t, base, func(req *tenantsv1.ListKeyAuditRequest) (string, error) {
		resp, err := f.ops.ListKeyAudit(t.Context(), req)
		return resp.GetNextCursor(), err
	}, map[protoreflect.Name]any{"key_id": id})
}

// tenantAudit returns all entries, newest first, read in pages of two.
func (f *fixture) tenantAudit(tenantID string) []*tenantsv1.TenantAuditEntry {
	f.t.Helper()
	req := &tenantsv1.ListTenantAuditRequest{Actor: staff, TenantId: tenantID, Limit: pointer(int32(2))}
	return pagetest.All(func(after *string) ([]*tenantsv1.TenantAuditEntry, *string) {
		req.After = after
		page := call(f.t, f.ops.ListTenantAudit, req)
		return page.GetEntries(), page.NextCursor
	})
}

func TestEveryChangeOfATenantIsInTheAuditOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	f.brand(other, "Borealis")
	ann := f.member(tenant, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true)
	brand, field := newID(), newID()
	put := func() { // Repeated, it changes nothing.
		req := tenantRequest(tenant)
		req.Actor, req.ApiAccess = ann, false
		call(t, f.ops.PutTenant, req)
		call(t, f.ops.PutBrand, &tenantsv1.PutBrandRequest{
			Actor: ann, TenantId: tenant, Brand: &tenantsv1.Brand{Id: brand, Name: "Aurora", Slug: "aurora"},
		})
		call(t, f.ops.PutCustomField, &tenantsv1.PutCustomFieldRequest{
			Actor: ann, TenantId: tenant, Field: &tenantsv1.CustomField{Id: field, Label: "Tier", Type: textField}, Position: 3,
		})
	}
	put()
	put()
	key := f.createKey(tenant).GetKey().GetId()
	f.offboard(tenant)
	call(t, f.offboarding.CancelOffboarding, &tenantsv1.CancelOffboardingRequest{Actor: staff, TenantId: tenant})

	settings := func(access string) string {
		return `{"name": "Nordic Play", "locales": ["en-US", "sv-SE"], "currency": "EUR", "approvalRequired": false,
			"apiAccess": ` + access + `}`
	}
	want := []struct{ action, by, subject, detail string }{
		{"OFFBOARDING_CANCEL", staff.GetId(), "", `{}`},
		{"OFFBOARDING_REQUEST", backoffice().GetId(), "", `{}`},
		{"KEY_CREATE", staff.GetId(), strconv.Itoa(int(key)), ""},
		{
			"PUT_CUSTOM_FIELD", ann.GetId(), field,
			`{"after": {"label": "Tier", "type": "TEXT", "required": false, "options": [], "position": 3}}`,
		},
		{"PUT_BRAND", ann.GetId(), brand, `{"after": {"name": "Aurora", "slug": "aurora"}}`},
		{"PUT_TENANT", ann.GetId(), "", `{"before": ` + settings("true") + `, "after": ` + settings("false") + `}`},
		{"PUT_TEAM_MEMBER", staff.GetId(), ann.GetId(), `{"after": {"role": "ADMINISTRATOR", "active": true}}`},
		{"PUT_TENANT", staff.GetId(), "", `{"after": ` + settings("true") + `}`},
	}
	got := f.tenantAudit(tenant)
	require.Len(t, got, len(want))
	for i, e := range got {
		require.Equal(t, want[i].action, enumname.String(e.GetAction()))
		require.Equal(t, want[i].by, e.GetActor().GetId())
		require.Equal(t, want[i].subject, e.GetSubjectId())
		require.True(t, e.GetAt().IsValid())
		if want[i].detail != "" {
			require.JSONEq(t, want[i].detail, e.GetDetail())
		}
		require.NotContains(t, e.String(), "@example.com", "it has no personal data")
		require.NotContains(t, e.String(), staff.GetName())
	}
	require.Len(t, f.tenantAudit(other), 2, "a tenant has only its own changes")
}

func TestARefusedChangeLeavesNoTrace(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	stranger := f.member(other, tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, true)
	key := f.createKey(tenant).GetKey()
	before, version := len(f.tenantAudit(tenant)), f.settings(tenant).GetVersion()
	theirs := pointer("https://stranger.example.com")

	requireRefused(t, problem.NotFound, f.ops.SetWebhookUrl, &tenantsv1.SetWebhookUrlRequest{
		Actor: stranger, TenantId: tenant, KeyId: key.GetId(), Url: theirs,
	})
	requireRefused(t, problem.NotFound, f.ops.SetWebhookUrl, &tenantsv1.SetWebhookUrlRequest{
		Actor: stranger, TenantId: other, KeyId: key.GetId(), Url: theirs,
	})
	requireRefused(t, problem.NotFound, f.ops.SetWebhookUrl, &tenantsv1.SetWebhookUrlRequest{
		Actor: staff, TenantId: other, KeyId: key.GetId(), Url: theirs,
	})
	created := tenantRequest(newID())
	created.Actor = stranger
	requireRefused(t, problem.NotFound, f.ops.PutTenant, created)
	require.Equal(t, key.GetWebhookUrl(), f.endpoint(key.GetId()).GetUrl())
	require.Equal(t, version, f.settings(tenant).GetVersion())
	require.Len(t, f.tenantAudit(tenant), before)
	requireRefused(t, problem.NotFound, f.directory.GetTenantSettings, &tenantsv1.GetTenantSettingsRequest{TenantId: created.GetId()})
}
