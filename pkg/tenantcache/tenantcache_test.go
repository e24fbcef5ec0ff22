package tenantcache_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/tenantcache"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

type directory struct {
	tenantsv1.DirectoryServiceClient
	version atomic.Int64
	calls   atomic.Int32
}

func (d *directory) GetTenantSettings(
	context.Context, *tenantsv1.GetTenantSettingsRequest, ...grpc.CallOption,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	d.calls.Add(1)
	return &tenantsv1.GetTenantSettingsResponse{Version: d.version.Load()}, nil
}

func TestACopyServesUntilTheVersionMovesOn(t *testing.T) {
	d := &directory{}
	d.version.Store(3)
	cache := tenantcache.New(d)
	var group errgroup.Group
	for range 20 {
		group.Go(func() error {
			_, err := cache.Get(t.Context(), "t", 3)
			return err
		})
	}
	require.NoError(t, group.Wait())
	before := d.calls.Load()
	_, err := cache.Get(t.Context(), "t", 2)
	require.NoError(t, err)
	require.Equal(t, before, d.calls.Load(), "an older version is served from the copy")

	d.version.Store(4)
	s, err := cache.Get(t.Context(), "t", 4)
	require.NoError(t, err)
	require.EqualValues(t, 4, s.GetVersion())
	require.Equal(t, before+1, d.calls.Load())
}

func TestACallerThatLeavesDoesNotFailTheOthers(t *testing.T) {
	cache := tenantcache.New(&directory{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := cache.Get(ctx, "t", 0)
	require.NoError(t, err)
}
