package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// audit returns all entries, newest first, read in pages of two.
func (f *fixture) audit(tenantID string, keyID *int32) (entries []*tenantsv1.KeyAuditEntry) {
	f.t.Helper()
	req := &tenantsv1.ListKeyAuditRequest{Actor: staff, TenantId: tenantID, KeyId: keyID, Limit: pointer(int32(2))}
	for {
		page := call(f.t, f.ops.ListKeyAudit, req)
		entries = append(entries, page.GetEntries()...)
		if page.NextCursor == nil {
			return entries
		}
		req.After = page.NextCursor
	}
}

func TestEveryChangeOfAKeyIsInTheAuditWithItsActor(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	brand := f.brand(tenant, "Aurora")
	f.key(other)
	neighbour := f.key(tenant).GetKey().GetId()
	made := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
		TenantId: tenant, Name: "Shop", AllBrands: true, Actor: staff, Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	})
	id := made.GetKey().GetId()
	update := &tenantsv1.UpdateKeyRequest{TenantId: tenant, KeyId: id, Actor: staff, Name: "Links", BrandIds: []string{brand}}
	setURL := &tenantsv1.SetWebhookUrlRequest{TenantId: tenant, KeyId: id, Actor: staff, Url: pointer("https://hooks.example.com/secret-path")}
	for range 2 { // What a repetition does not change has no entry.
		call(t, f.ops.UpdateKey, update)
		call(t, f.ops.SetWebhookUrl, setURL)
	}
	rotated := call(t, f.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{Actor: staff, TenantId: tenant, KeyId: id})
	for range 2 {
		call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{TenantId: tenant, KeyId: id, Actor: staff})
	}
	refused(t, problem.NotFound, f.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{TenantId: tenant, KeyId: id, Actor: staff})

	someone := &commonv1.Actor{Kind: staff.GetKind(), Id: staff.GetId()}
	shop := `{"name": "Shop", "scopes": ["ORDERS"], "brandIds": [], "allBrands": true}`
	links := `{"name": "Links", "scopes": [], "brandIds": ["` + brand + `"], "allBrands": false}`
	hooked := `{"name": "Links", "scopes": [], "brandIds": ["` + brand + `"], "allBrands": false, "webhookHost": "hooks.example.com"}`
	want := []*tenantsv1.KeyAuditEntry{
		{Action: tenantsv1.KeyAction_KEY_ACTION_REVOKE, Actor: someone, Detail: `{}`},
		{Action: tenantsv1.KeyAction_KEY_ACTION_ROTATE_WEBHOOK_SECRET, Actor: someone, Detail: `{}`},
		{Action: tenantsv1.KeyAction_KEY_ACTION_SET_WEBHOOK_URL, Actor: someone, Detail: `{"before": ` + links + `, "after": ` + hooked + `}`},
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
		for _, secret := range []string{made.GetApiKey(), made.GetWebhookSecret(), rotated.GetWebhookSecret(), "secret-path", staff.GetName()} {
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
	id := f.key(tenant).GetKey().GetId()
	f.key(tenant)
	invalid(t, f.ops.ListKeyAudit, &tenantsv1.ListKeyAuditRequest{Actor: staff, TenantId: "x", Limit: pointer(int32(0))}, "tenantId invalid", "limit invalid")
	base := &tenantsv1.ListKeyAuditRequest{Actor: staff, TenantId: tenant, Limit: pointer(int32(1))}
	pagetest.RequireBound(t, base, func(req *tenantsv1.ListKeyAuditRequest) (string, error) {
		resp, err := f.ops.ListKeyAudit(t.Context(), req)
		return resp.GetNextCursor(), err
	}, map[protoreflect.Name]any{"key_id": id})
}
