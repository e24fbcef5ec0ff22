package tenants_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// directory returns its version once it is released; a caller that has left gets nothing.
type directory struct {
	tenantsv1.DirectoryServiceClient
	version atomic.Int64
	calls   atomic.Int32
	entered chan struct{}
	let     chan struct{}
}

func newDirectory(version int64) *directory {
	d := &directory{entered: make(chan struct{}, 100), let: make(chan struct{})}
	d.version.Store(version)
	return d
}

func (d *directory) GetTenantSettings(
	ctx context.Context, _ *tenantsv1.GetTenantSettingsRequest, _ ...grpc.CallOption,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	d.calls.Add(1)
	d.entered <- struct{}{}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-d.let:
		return &tenantsv1.GetTenantSettingsResponse{Version: d.version.Load()}, nil
	}
}

func TestACopyServesUntilTheVersionChanges(t *testing.T) {
	t.Parallel()
	d := newDirectory(3)
	close(d.let)
	cache := tenants.NewCache(d)
	for _, version := range []int64{3, 3, 2, 0} {
		s, err := cache.Get(t.Context(), "t", version)
		require.NoError(t, err)
		require.EqualValues(t, 3, s.GetVersion())
	}
	require.EqualValues(t, 1, d.calls.Load())

	d.version.Store(4)
	s, err := cache.Get(t.Context(), "t", 4)
	require.NoError(t, err)
	require.EqualValues(t, 4, s.GetVersion())
	require.EqualValues(t, 2, d.calls.Load())
}

func TestFreshSettingsAreRequestedEachTime(t *testing.T) {
	t.Parallel()
	d := newDirectory(3)
	close(d.let)
	cache := tenants.NewCache(d)
	for asked := int64(3); asked < 6; asked++ {
		d.version.Store(asked)
		s, err := cache.Fresh(t.Context(), "t")
		require.NoError(t, err)
		require.Equal(t, asked, s.GetVersion())
	}
	require.EqualValues(t, 3, d.calls.Load())
	s, err := cache.Get(t.Context(), "t", 5)
	require.NoError(t, err)
	require.EqualValues(t, 5, s.GetVersion())
	require.EqualValues(t, 3, d.calls.Load(), "the copy serves those who know its version")
}

func TestConcurrentCallersShareOneCallThatNoneOfThemCancels(t *testing.T) {
	t.Parallel()
	d := newDirectory(1)
	cache := tenants.NewCache(d)
	first, leave := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error {
		_, err := cache.Get(first, "t", 1)
		return err
	})
	<-d.entered
	leave() // The caller that started it leaves.
	for range 20 {
		group.Go(func() error {
			_, err := cache.Get(t.Context(), "t", 1)
			return err
		})
	}
	close(d.let)
	require.NoError(t, group.Wait())
	require.EqualValues(t, 1, d.calls.Load())
}

func TestOnlyMembersAreLookedUp(t *testing.T) {
	t.Parallel()
	d := newDirectory(1)
	close(d.let)
	cache := tenants.NewCache(d)
	needs := caller.Permission{Team: caller.EveryTeamRole(), Operator: true}
	operator := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "op"}
	member := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: "ann"}
	require.NoError(t, cache.Permit(t.Context(), "t", operator, needs))
	require.True(t, problem.Is(cache.Permit(t.Context(), "t", member, caller.Permission{Operator: true}), problem.InsufficientScope))
	require.Zero(t, d.calls.Load(), "whether the tenant exists makes no difference")
	for calls := int32(1); calls < 3; calls++ {
		require.True(t, problem.Is(cache.Permit(t.Context(), "t", member, needs), problem.NotFound))
		require.Equal(t, calls, d.calls.Load(), "no copy is used")
	}
}

// counter counts its calls.
type counter struct {
	tenantsv1.DirectoryServiceClient
	calls int
}

func (c *counter) GetTenantSettings(
	context.Context, *tenantsv1.GetTenantSettingsRequest, ...grpc.CallOption,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	c.calls++
	return &tenantsv1.GetTenantSettingsResponse{}, nil
}

func TestATenantThatIsReadAgainReplacesNoOtherOne(t *testing.T) {
	t.Parallel()
	const maxTenants = 10_000
	d := &counter{}
	cache := tenants.NewCache(d)
	getAll := func() {
		for i := range maxTenants {
			_, err := cache.Get(t.Context(), strconv.Itoa(i), 0)
			require.NoError(t, err)
		}
	}
	getAll()
	_, err := cache.Fresh(t.Context(), "0")
	require.NoError(t, err)
	getAll()
	require.Equal(t, maxTenants+1, d.calls)
}
