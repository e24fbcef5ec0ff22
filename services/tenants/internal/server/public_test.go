package server_test

import (
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
	made := f.createKey(tenant)
	ctx := f.keyContext(made.GetApiKey())
	t.Run("a key without brands has an empty list", func(t *testing.T) {
		none := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "None"})
		me, err := f.public.GetMe(f.keyContext(none.GetApiKey()), &tenantsv1.GetMeRequest{})
		require.NoError(t, err)
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
		requireRefused(t, problem.InvalidAPIKey, f.public.GetMe, &tenantsv1.GetMeRequest{})
		requireRefused(t, problem.InvalidAPIKey, f.public.ListBrands, &tenantsv1.ListBrandsRequest{})
	})
}

func TestBrandsAreListedByName(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	for _, name := range []string{"cirrus", "Aurora", "Borealis"} {
		f.brand(tenant, name)
	}
	f.brand(other, "Foreign")
	none := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "n"})
	all := f.createKey(tenant)
	for key, want := range map[string][]string{all.GetApiKey(): {"Aurora", "Borealis", "cirrus"}, none.GetApiKey(): nil} {
		resp, err := f.public.ListBrands(f.keyContext(key), &tenantsv1.ListBrandsRequest{})
		require.NoError(t, err)
		var names []string
		for _, brand := range resp.GetBrands() {
			names = append(names, brand.GetName())
		}
		require.Equal(t, want, names)
	}
}
