package server_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// tenantAudit returns all entries, newest first, read in pages of two.
func (f *fixture) tenantAudit(tenantID string) (entries []*tenantsv1.TenantAuditEntry) {
	f.t.Helper()
	req := &tenantsv1.ListTenantAuditRequest{Actor: staff, TenantId: tenantID, Limit: pointer(int32(2))}
	for {
		page := call(f.t, f.ops.ListTenantAudit, req)
		entries = append(entries, page.GetEntries()...)
		if page.NextCursor == nil {
			return entries
		}
		req.After = page.NextCursor
	}
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
	key := f.key(tenant).GetKey().GetId()
	f.offboard(tenant)
	call(t, f.offboarding.CancelOffboarding, &tenantsv1.CancelOffboardingRequest{Actor: staff, TenantId: tenant})

	settings := func(access string) string {
		return `{"name": "Nordic Play", "locales": ["en-US", "sv-SE"], "currency": "EUR", "approvalRequired": false, "apiAccess": ` + access + `}`
	}
	want := []struct{ action, by, subject, detail string }{
		{"OFFBOARDING_CANCEL", staff.GetId(), "", `{}`},
		{"OFFBOARDING_REQUEST", backoffice().GetId(), "", `{}`},
		{"KEY_CREATE", staff.GetId(), strconv.Itoa(int(key)), ""},
		{"PUT_CUSTOM_FIELD", ann.GetId(), field, `{"after": {"label": "Tier", "type": "TEXT", "required": false, "options": [], "position": 3}}`},
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
	key := f.key(tenant).GetKey()
	before, version := len(f.tenantAudit(tenant)), f.settings(tenant).GetVersion()
	theirs := pointer("https://stranger.example.com")

	refused(t, problem.NotFound, f.ops.SetWebhookUrl, &tenantsv1.SetWebhookUrlRequest{Actor: stranger, TenantId: tenant, KeyId: key.GetId(), Url: theirs})
	refused(t, problem.NotFound, f.ops.SetWebhookUrl, &tenantsv1.SetWebhookUrlRequest{Actor: stranger, TenantId: other, KeyId: key.GetId(), Url: theirs})
	refused(t, problem.NotFound, f.ops.SetWebhookUrl, &tenantsv1.SetWebhookUrlRequest{Actor: staff, TenantId: other, KeyId: key.GetId(), Url: theirs})
	created := tenantRequest(newID())
	created.Actor = stranger
	refused(t, problem.NotFound, f.ops.PutTenant, created)
	require.Equal(t, key.GetWebhookUrl(), f.endpoint(key.GetId()).GetUrl())
	require.Equal(t, version, f.settings(tenant).GetVersion())
	require.Len(t, f.tenantAudit(tenant), before)
	refused(t, problem.NotFound, f.directory.GetTenantSettings, &tenantsv1.GetTenantSettingsRequest{TenantId: created.GetId()})
}
