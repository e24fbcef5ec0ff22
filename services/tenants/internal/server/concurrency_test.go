package server_test

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/tenants"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestConcurrentChangesEachRaiseTheVersion(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	const each = 8
	var group errgroup.Group
	for i := range each {
		group.Go(func() error {
			_, err := f.ops.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{
				Actor: staff, TenantId: tenant, Brand: &tenantsv1.Brand{Id: newID(), Name: "n", Slug: fmt.Sprintf("slug-%d", i)},
			})
			return err
		})
		group.Go(func() error {
			_, err := f.ops.CreateKey(t.Context(), &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "k"})
			return err
		})
		group.Go(func() error {
			req := tenantRequest(tenant)
			req.Name = fmt.Sprintf("name %d", i)
			_, err := f.ops.PutTenant(t.Context(), req)
			return err
		})
	}
	require.NoError(t, group.Wait())

	settings := f.settings(tenant)
	require.Len(t, settings.GetBrands(), each)
	require.EqualValues(t, 1+3*each, settings.GetVersion(), "no change of the version is lost")
	published, err := f.redis.Get(t.Context(), tenants.VersionKey(tenant)).Result()
	require.NoError(t, err)
	require.Equal(t, strconv.FormatInt(settings.GetVersion(), 10), published, "the newest version is published")
}

func TestTheSameConcurrentChangeHappensOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	brand := &tenantsv1.Brand{Id: newID(), Name: "n", Slug: "s"}
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			_, err := f.ops.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{Actor: staff, TenantId: tenant, Brand: brand})
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 2, f.settings(tenant).GetVersion())
}

func TestSettingsAndTheirVersionBelongTogether(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant := f.tenant()
	done := make(chan struct{})
	var writer errgroup.Group
	writer.Go(func() error {
		defer close(done)
		for i := range 60 {
			_, err := f.ops.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{
				Actor: staff, TenantId: tenant, Brand: &tenantsv1.Brand{Id: newID(), Name: "n", Slug: fmt.Sprintf("slug-%d", i)},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		settings := f.settings(tenant)
		require.EqualValues(t, len(settings.GetBrands())+1, settings.GetVersion())
	}
	require.NoError(t, writer.Wait())
}
