package server_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

func TestPutTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := newID()
	t.Run("a new tenant is returned with en-US before its own locales", func(t *testing.T) {
		req := tenantRequest(strings.ToUpper(id))
		req.Locales = []string{"sv-se", "en-US", "de", "sv-SE"}
		req.ApprovalRequired = true
		resp := call(t, f.ops.PutTenant, req)
		require.Equal(t, id, resp.GetTenant().GetId())
		require.Equal(t, []string{"en-US", "sv-SE", "de"}, resp.GetTenant().GetLocales())
		require.True(t, resp.GetTenant().GetApprovalRequired())
		require.EqualValues(t, 1, f.settings(id).GetVersion())
	})
	t.Run("a repetition has no second effect", func(t *testing.T) {
		call(t, f.ops.PutTenant, tenantRequest(id))
		before := f.settings(id)
		call(t, f.ops.PutTenant, tenantRequest(id))
		require.Equal(t, before.GetVersion(), f.settings(id).GetVersion())
		require.EqualValues(t, 2, before.GetVersion())
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutTenant, &tenantsv1.PutTenantRequest{
			Id: "x", Name: " ", Locales: []string{"sv-SE", "", "sv_SE", "nonsense-tag-of-words"}, Currency: "eur",
		}, "id invalid", "name required", "currency invalid",
			"locales[1] invalid", "locales[2] invalid", "locales[3] invalid")
		req := tenantRequest(id)
		req.Name, req.Currency = strings.Repeat("å", 256), "XXX"
		invalid(t, f.ops.PutTenant, req, "name too_long", "currency invalid")
		req.Name, req.Currency = "a\x00b", "SEK"
		invalid(t, f.ops.PutTenant, req, "name invalid")
	})
	t.Run("the version is published", func(t *testing.T) {
		published, err := f.redis.Get(t.Context(), versions.Key(id)).Result()
		require.NoError(t, err)
		require.Equal(t, strconv.FormatInt(f.settings(id).GetVersion(), 10), published)
	})
}

func TestSettingsOfAnUnknownTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	refused(t, problem.NotFound, f.directory.GetTenantSettings, &tenantsv1.GetTenantSettingsRequest{TenantId: newID()})
	invalid(t, f.directory.GetTenantSettings, &tenantsv1.GetTenantSettingsRequest{TenantId: "x"}, "tenantId invalid")
}
