package tenants_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
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
	cache := tenants.NewCache(d, identity.Cell{})
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
	cache := tenants.NewCache(d, identity.Cell{})
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
	cache := tenants.NewCache(d, identity.Cell{})
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

func TestTheTeamIsReadWithEachCallOfAMember(t *testing.T) {
	t.Parallel()
	d := newDirectory(1)
	close(d.let)
	cache := tenants.NewCache(d, identity.Cell{})
	member := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: "ann"}
	require.True(t, problem.Is(cache.Permit(t.Context(), "t", member, caller.Permission{Operator: true}), problem.InsufficientScope))
	require.Zero(t, d.calls.Load(), "whether the tenant exists makes no difference")
	lists := forAll
	lists.Lists = true
	require.NoError(t, cache.Permit(t.Context(), "t", operator, lists))
	require.Zero(t, d.calls.Load(), "a list has what there is")
	require.NoError(t, cache.Permit(t.Context(), "t", operator, forAll))
	require.NoError(t, cache.Permit(t.Context(), "t", operator, forAll))
	require.EqualValues(t, 1, d.calls.Load())
	for calls := int32(2); calls < 4; calls++ {
		require.True(t, problem.Is(cache.Permit(t.Context(), "t", member, forAll), problem.NotFound))
		require.Equal(t, calls, d.calls.Load(), "no copy is used")
	}
}

var (
	forAll   = caller.Permission{Team: caller.EveryTeamRole(), Operator: true}
	operator = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "op"}
)

// settingsOf are the settings of every tenant. They count as read when the call begins, and are returned when before is done.
type settingsOf struct {
	tenantsv1.DirectoryServiceClient

	current tenants.Settings
	calls   int
	before  func()
}

func (d *settingsOf) GetTenantSettings(
	context.Context, *tenantsv1.GetTenantSettingsRequest, ...grpc.CallOption,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	d.calls++
	read := proto.CloneOf(&d.current)
	if before := d.before; before != nil {
		d.before = nil
		before()
	}
	return read, nil
}

func (d *settingsOf) moveTo(cell string) {
	d.current.Cell, d.current.Version = cell, d.current.GetVersion()+1
}

func TestATenantIsKnownInItsCellOnly(t *testing.T) {
	t.Parallel()
	d := &settingsOf{}
	a, b := tenants.NewCache(d, identity.Cell{}), tenants.NewCache(d, identity.Cell{Letter: "b"})
	all := tenants.NewGlobalCache(d)
	check := func(t *testing.T, here, elsewhere *tenants.Cache) {
		t.Helper()
		version := d.current.GetVersion()
		for range 2 { // What the first call stores changes nothing.
			for _, cache := range []*tenants.Cache{here, all} {
				_, err := cache.Get(t.Context(), "t", version)
				require.NoError(t, err)
				_, err = cache.Fresh(t.Context(), "t")
				require.NoError(t, err)
				require.NoError(t, cache.Permit(t.Context(), "t", operator, forAll))
			}
			_, err := elsewhere.Get(t.Context(), "t", version)
			require.True(t, problem.Is(err, problem.ServiceUnavailable), err)
			_, err = elsewhere.Get(t.Context(), "t", 0)
			require.True(t, problem.Is(err, problem.ServiceUnavailable), err)
			_, err = elsewhere.Fresh(t.Context(), "t")
			require.True(t, problem.Is(err, problem.NotFound), err)
			require.ErrorIs(t, err, tenants.ErrOtherCell)
			require.True(t, problem.Is(elsewhere.Permit(t.Context(), "t", operator, forAll), problem.NotFound))
			require.True(t, problem.Is(elsewhere.Here(t.Context(), "t"), problem.NotFound))
		}
	}
	check(t, a, b) // A tenants service of release 1.0 names no cell.
	d.moveTo("b")
	check(t, b, a)
	d.moveTo("a")
	check(t, a, b)
}

func TestAnOlderAnswerDoesNotBringATenantBack(t *testing.T) {
	t.Parallel()
	d := &settingsOf{current: tenants.Settings{Version: 5}}
	cache := tenants.NewCache(d, identity.Cell{})
	d.before = func() { // A call that began before the move ends after one that began later.
		d.moveTo("b")
		_, err := cache.Fresh(t.Context(), "t")
		require.ErrorIs(t, err, tenants.ErrOtherCell)
	}
	_, err := cache.Fresh(t.Context(), "t")
	require.ErrorIs(t, err, tenants.ErrOtherCell)
	require.ErrorIs(t, cache.Here(t.Context(), "t"), tenants.ErrOtherCell)
}

func TestTheOldCellAnswersForALeaseAtMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &settingsOf{}
		cache := tenants.NewCache(d, identity.Cell{})
		require.NoError(t, cache.Here(t.Context(), "t"))
		d.moveTo("b")
		time.Sleep(tenants.VersionLease - time.Nanosecond) //nolint:forbidigo // The clock of the test.
		require.NoError(t, cache.Here(t.Context(), "t"))
		require.Equal(t, 1, d.calls)
		time.Sleep(time.Nanosecond) //nolint:forbidigo // The clock of the test.
		require.ErrorIs(t, cache.Here(t.Context(), "t"), tenants.ErrOtherCell)
		d.moveTo("a")
		require.NoError(t, cache.Here(t.Context(), "t"), "the new cell learns it with the next call")
	})
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
	cache := tenants.NewCache(d, identity.Cell{})
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
