package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestPutBrand(t *testing.T) {
	b := setup(t)
	tenant, other := b.tenant(), b.tenant()
	brand := &tenantsv1.Brand{
		Id: newID(), Name: "Aurora", Slug: "aurora-2", PrimaryColour: pointer("#1a2B3C"),
		LogoUrl: pointer("https://cdn.example.com/a.svg"),
	}
	put := func(tenantID string, brand *tenantsv1.Brand) error {
		_, err := b.ops.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{TenantId: tenantID, Brand: brand})
		return err
	}

	t.Run("a brand is created, replaced and not touched by a repetition", func(t *testing.T) {
		require.NoError(t, put(tenant, brand))
		brand.Name, brand.LogoUrl = "Aurora Club", nil
		require.NoError(t, put(tenant, brand))
		settings := b.settings(tenant)
		require.EqualValues(t, 3, settings.GetVersion())
		require.Len(t, settings.GetBrands(), 1)
		require.Equal(t, brand.String(), settings.GetBrands()[0].String())
		require.NoError(t, put(tenant, brand))
		require.EqualValues(t, 3, b.settings(tenant).GetVersion())
	})

	t.Run("the id of another tenant's brand is not found and changes nothing", func(t *testing.T) {
		before := b.settings(tenant)
		err := put(other, &tenantsv1.Brand{Id: brand.GetId(), Name: "Taken over", Slug: "taken"})
		requireProblem(t, err, problem.NotFound)
		require.Equal(t, before.String(), b.settings(tenant).String())
		require.EqualValues(t, 1, b.settings(other).GetVersion())
		require.Empty(t, b.settings(other).GetBrands())
	})

	t.Run("a slug belongs to one brand of the tenant", func(t *testing.T) {
		again := &tenantsv1.Brand{Id: newID(), Name: "Second", Slug: brand.GetSlug()}
		requireFaults(t, put(tenant, again), "brand.slug duplicate")
		require.NoError(t, put(other, again))
	})

	t.Run("every fault is listed", func(t *testing.T) {
		requireFaults(t, put("x", &tenantsv1.Brand{
			Id: "y", Slug: "No Slug", PrimaryColour: pointer("red"), LogoUrl: pointer("/logo.svg"),
		}), "tenantId invalid", "brand.id invalid", "brand.name required", "brand.slug invalid",
			"brand.primaryColour invalid", "brand.logoUrl invalid")
		requireFaults(t, put(tenant, nil), "brand required")
		requireFaults(t, put(tenant, &tenantsv1.Brand{
			Id: newID(), Name: "n", Slug: "s", LogoUrl: pointer("https://user:secret@example.com/logo.svg"),
		}), "brand.logoUrl invalid")
	})

	t.Run("a tenant that does not exist is not found", func(t *testing.T) {
		requireProblem(t, put(newID(), &tenantsv1.Brand{Id: newID(), Name: "n", Slug: "s"}), problem.NotFound)
	})
}
