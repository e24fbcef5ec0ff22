package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestPutBrand(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other := f.tenant(), f.tenant()
	brand := &tenantsv1.Brand{
		Id: newID(), Name: "Aurora", Slug: "aurora-2", PrimaryColour: pointer("#1a2B3C"),
		LogoUrl: pointer("https://cdn.example.com/a.svg"),
	}
	put := func(tenantID string, brand *tenantsv1.Brand) *tenantsv1.PutBrandRequest {
		return &tenantsv1.PutBrandRequest{TenantId: tenantID, Brand: brand}
	}
	t.Run("a brand is created, replaced and not changed by a repetition", func(t *testing.T) {
		call(t, f.ops.PutBrand, put(tenant, brand))
		brand.Name, brand.LogoUrl = "Aurora Club", nil
		call(t, f.ops.PutBrand, put(tenant, brand))
		settings := f.settings(tenant)
		require.EqualValues(t, 3, settings.GetVersion())
		require.Len(t, settings.GetBrands(), 1)
		require.Equal(t, brand.String(), settings.GetBrands()[0].String())
		call(t, f.ops.PutBrand, put(tenant, brand))
		require.EqualValues(t, 3, f.settings(tenant).GetVersion())
	})
	t.Run("the id of another tenant's brand is not found and changes nothing", func(t *testing.T) {
		before := f.settings(tenant)
		refused(t, problem.NotFound, f.ops.PutBrand, put(other, &tenantsv1.Brand{Id: brand.GetId(), Name: "Taken over", Slug: "taken"}))
		require.Equal(t, before.String(), f.settings(tenant).String())
		require.EqualValues(t, 1, f.settings(other).GetVersion())
		require.Empty(t, f.settings(other).GetBrands())
	})
	t.Run("a slug belongs to one brand of the tenant", func(t *testing.T) {
		again := &tenantsv1.Brand{Id: newID(), Name: "Second", Slug: brand.GetSlug()}
		invalid(t, f.ops.PutBrand, put(tenant, again), "brand.slug duplicate")
		call(t, f.ops.PutBrand, put(other, again))
	})
	t.Run("every violation is listed", func(t *testing.T) {
		invalid(t, f.ops.PutBrand, put("x", &tenantsv1.Brand{
			Id: "y", Slug: "No Slug", PrimaryColour: pointer("red"), LogoUrl: pointer("/logo.svg"),
		}), "tenantId invalid", "brand.id invalid", "brand.name required", "brand.slug invalid",
			"brand.primaryColour invalid", "brand.logoUrl invalid")
		invalid(t, f.ops.PutBrand, put(tenant, nil), "brand required")
		invalid(t, f.ops.PutBrand, put(tenant, &tenantsv1.Brand{
			Id: newID(), Name: "n", Slug: "s", LogoUrl: pointer("https://user:secret@example.com/logo.svg"),
		}), "brand.logoUrl invalid")
	})
	t.Run("a tenant that does not exist is not found", func(t *testing.T) {
		refused(t, problem.NotFound, f.ops.PutBrand, put(newID(), &tenantsv1.Brand{Id: newID(), Name: "n", Slug: "s"}))
	})
}
