package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestGetMe(t *testing.T) {
	b := setup(t)
	tenant, other := b.tenant(), b.tenant()
	_, err := b.ops.PutCustomField(t.Context(), &tenantsv1.PutCustomFieldRequest{
		TenantId: tenant, Field: &tenantsv1.CustomField{Id: newID(), Label: "Tier", Type: textField},
	})
	require.NoError(t, err)
	made := b.key(tenant)
	ctx := b.as(made.GetApiKey())

	t.Run("it gives tenant, key and environment", func(t *testing.T) {
		me, err := b.public.GetMe(ctx, &tenantsv1.GetMeRequest{})
		require.NoError(t, err)
		require.Equal(t, b.settings(tenant).GetTenant().String(), me.GetTenant().String())
		require.Len(t, me.GetTenant().GetCustomFields(), 1)
		require.Equal(t, made.GetKey().String(), me.GetKey().String())
		require.Equal(t, "sandbox", me.GetEnvironment())
	})
	t.Run("settings are current", func(t *testing.T) {
		req := tenantRequest(tenant)
		req.Name = "Renamed"
		_, err := b.ops.PutTenant(t.Context(), req)
		require.NoError(t, err)
		me, err := b.public.GetMe(ctx, &tenantsv1.GetMeRequest{})
		require.NoError(t, err)
		require.Equal(t, "Renamed", me.GetTenant().GetName())
	})
	t.Run("a key that is limited to no brand says so", func(t *testing.T) {
		none, err := b.ops.CreateKey(t.Context(), &tenantsv1.CreateKeyRequest{TenantId: tenant, Name: "None"})
		require.NoError(t, err)
		me, err := b.public.GetMe(b.as(none.GetApiKey()), &tenantsv1.GetMeRequest{})
		require.NoError(t, err)
		require.NotNil(t, me.GetKey().GetBrandIds())
		require.Empty(t, me.GetKey().GetBrandIds().GetIds())
		require.Nil(t, me.GetKey().WebhookUrl)
	})
	t.Run("access that was switched off is refused", func(t *testing.T) {
		b.setAccess(tenant, false)
		_, err := b.public.GetMe(ctx, &tenantsv1.GetMeRequest{})
		requireProblem(t, err, problem.InvalidAPIKey)
	})
	t.Run("a key of another tenant is none", func(t *testing.T) {
		crossed, err := caller.Outgoing(t.Context(),
			caller.Principal{TenantID: other, KeyID: made.GetKey().GetId()}, caller.Request{})
		require.NoError(t, err)
		_, err = b.public.GetMe(crossed, &tenantsv1.GetMeRequest{})
		requireProblem(t, err, problem.InvalidAPIKey)
	})
	t.Run("a call without a principal is refused", func(t *testing.T) {
		_, err := b.public.GetMe(t.Context(), &tenantsv1.GetMeRequest{})
		requireProblem(t, err, problem.InvalidAPIKey)
		_, err = b.public.ListBrands(t.Context(), &tenantsv1.ListBrandsRequest{})
		requireProblem(t, err, problem.InvalidAPIKey)
	})
}

func TestListBrands(t *testing.T) {
	b := setup(t)
	tenant, other := b.tenant(), b.tenant()
	b.brand(tenant, "cirrus")
	aurora := b.brand(tenant, "Aurora")
	b.brand(tenant, "Borealis")
	b.brand(other, "Foreign")
	names := func(t *testing.T, apiKey string) (out []string) {
		t.Helper()
		resp, err := b.public.ListBrands(b.as(apiKey), &tenantsv1.ListBrandsRequest{})
		require.NoError(t, err)
		for _, brand := range resp.GetBrands() {
			out = append(out, brand.GetName())
		}
		return out
	}

	t.Run("a key of all brands sees the tenant's by name, later ones too", func(t *testing.T) {
		key := b.key(tenant).GetApiKey()
		require.Equal(t, []string{"Aurora", "Borealis", "cirrus"}, names(t, key))
		b.brand(tenant, "Astra")
		require.Equal(t, []string{"Astra", "Aurora", "Borealis", "cirrus"}, names(t, key))
	})
	t.Run("a limited key sees its own", func(t *testing.T) {
		made, err := b.ops.CreateKey(t.Context(), &tenantsv1.CreateKeyRequest{TenantId: tenant, Name: "l", BrandIds: []string{aurora}})
		require.NoError(t, err)
		require.Equal(t, []string{"Aurora"}, names(t, made.GetApiKey()))
	})
	t.Run("a key of no brand sees none", func(t *testing.T) {
		made, err := b.ops.CreateKey(t.Context(), &tenantsv1.CreateKeyRequest{TenantId: tenant, Name: "n"})
		require.NoError(t, err)
		require.Empty(t, names(t, made.GetApiKey()))
	})
}
