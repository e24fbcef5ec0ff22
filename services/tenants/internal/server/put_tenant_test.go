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
	b := setup(t)
	id := newID()

	t.Run("a new tenant is given back with en-US before its own locales", func(t *testing.T) {
		req := tenantRequest(strings.ToUpper(id))
		req.Locales = []string{"sv-se", "en-US", "de", "sv-SE"}
		req.ApprovalRequired = true
		resp, err := b.ops.PutTenant(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, id, resp.GetTenant().GetId())
		require.Equal(t, []string{"en-US", "sv-SE", "de"}, resp.GetTenant().GetLocales())
		require.True(t, resp.GetTenant().GetApprovalRequired())
		require.EqualValues(t, 1, b.settings(id).GetVersion())
	})

	t.Run("a repetition has no second effect", func(t *testing.T) {
		_, err := b.ops.PutTenant(t.Context(), tenantRequest(id))
		require.NoError(t, err)
		before := b.settings(id)
		_, err = b.ops.PutTenant(t.Context(), tenantRequest(id))
		require.NoError(t, err)
		require.Equal(t, before.GetVersion(), b.settings(id).GetVersion())
		require.EqualValues(t, 2, before.GetVersion())
	})

	t.Run("every fault is listed", func(t *testing.T) {
		_, err := b.ops.PutTenant(t.Context(), &tenantsv1.PutTenantRequest{
			Id: "x", Name: " ", Locales: []string{"sv-SE", "", "sv_SE", "nonsense-tag-of-words"}, Currency: "eur",
		})
		requireFaults(t, err, "id invalid", "name required", "currency invalid",
			"locales[1] invalid", "locales[2] invalid", "locales[3] invalid")
		req := tenantRequest(id)
		req.Name, req.Currency = strings.Repeat("å", 256), "XXX"
		_, err = b.ops.PutTenant(t.Context(), req)
		requireFaults(t, err, "name too_long", "currency invalid")
		req.Name, req.Currency = "a\x00b", "SEK"
		_, err = b.ops.PutTenant(t.Context(), req)
		requireFaults(t, err, "name invalid")
	})

	t.Run("the version is published", func(t *testing.T) {
		published, err := b.redis.Get(t.Context(), versions.Key(id)).Result()
		require.NoError(t, err)
		require.Equal(t, strconv.FormatInt(b.settings(id).GetVersion(), 10), published)
	})
}

func TestSettingsOfAnUnknownTenant(t *testing.T) {
	b := setup(t)
	_, err := b.directory.GetTenantSettings(t.Context(), &tenantsv1.GetTenantSettingsRequest{TenantId: newID()})
	requireProblem(t, err, problem.NotFound)
	_, err = b.directory.GetTenantSettings(t.Context(), &tenantsv1.GetTenantSettingsRequest{TenantId: "x"})
	requireFaults(t, err, "tenantId invalid")
}
