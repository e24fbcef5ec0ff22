package server_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestGetMe(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	call(t, f.ops.PutCustomField, &tenantsv1.PutCustomFieldRequest{
		Actor: staff, TenantId: tenant, Field: &tenantsv1.CustomField{Id: newID(), Label: "Tier", Type: textField},
	})
	made := f.key(tenant)
	ctx := f.as(made.GetApiKey())
	me := func(ctx context.Context) *tenantsv1.GetMeResponse {
		t.Helper()
		resp, err := f.public.GetMe(ctx, &tenantsv1.GetMeRequest{})
		require.NoError(t, err)
		return resp
	}
	t.Run("it returns tenant, key and environment", func(t *testing.T) {
		me := me(ctx)
		require.Equal(t, f.settings(tenant).GetTenant().String(), me.GetTenant().String())
		require.Len(t, me.GetTenant().GetCustomFields(), 1)
		require.Equal(t, made.GetKey().String(), me.GetKey().String())
		require.Equal(t, "sandbox", me.GetEnvironment())
	})
	t.Run("settings are current", func(t *testing.T) {
		req := tenantRequest(tenant)
		req.Name = "Renamed"
		call(t, f.ops.PutTenant, req)
		me := me(ctx)
		require.Equal(t, "Renamed", me.GetTenant().GetName())
	})
	t.Run("a key without brands has an empty list", func(t *testing.T) {
		none := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "None"})
		me := me(f.as(none.GetApiKey()))
		require.NotNil(t, me.GetKey().GetBrandIds())
		require.Empty(t, me.GetKey().GetBrandIds().GetIds())
		require.Nil(t, me.GetKey().WebhookUrl)
	})
	t.Run("a key of another tenant is refused", func(t *testing.T) {
		crossed, err := caller.Outgoing(t.Context(),
			caller.Principal{TenantID: other, KeyID: made.GetKey().GetId()}, caller.Request{})
		require.NoError(t, err)
		_, err = f.public.GetMe(crossed, &tenantsv1.GetMeRequest{})
		require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	})
	t.Run("access that was switched off is refused", func(t *testing.T) {
		f.setAccess(tenant, false)
		_, err := f.public.GetMe(ctx, &tenantsv1.GetMeRequest{})
		require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	})
	t.Run("a call without a principal is refused", func(t *testing.T) {
		refused(t, problem.InvalidAPIKey, f.public.GetMe, &tenantsv1.GetMeRequest{})
		refused(t, problem.InvalidAPIKey, f.public.ListBrands, &tenantsv1.ListBrandsRequest{})
	})
}

func TestListBrands(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	f.brand(tenant, "cirrus")
	aurora := f.brand(tenant, "Aurora")
	f.brand(tenant, "Borealis")
	f.brand(other, "Foreign")
	names := func(t *testing.T, apiKey string) (out []string) {
		t.Helper()
		resp, err := f.public.ListBrands(f.as(apiKey), &tenantsv1.ListBrandsRequest{})
		require.NoError(t, err)
		for _, brand := range resp.GetBrands() {
			out = append(out, brand.GetName())
		}
		return out
	}
	t.Run("a key of all brands sees all brands of the tenant by name, new ones too", func(t *testing.T) {
		key := f.key(tenant).GetApiKey()
		require.Equal(t, []string{"Aurora", "Borealis", "cirrus"}, names(t, key))
		f.brand(tenant, "Astra")
		require.Equal(t, []string{"Astra", "Aurora", "Borealis", "cirrus"}, names(t, key))
	})
	t.Run("a limited key sees its own", func(t *testing.T) {
		made := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "l", BrandIds: []string{aurora}})
		require.Equal(t, []string{"Aurora"}, names(t, made.GetApiKey()))
	})
	t.Run("a key of no brand sees none", func(t *testing.T) {
		made := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "n"})
		require.Empty(t, names(t, made.GetApiKey()))
	})
}
