package access

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

type fixture struct {
	*tenantstest.Directory
	*keys

	now time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Directory: tenantstest.NewDirectory(t), now: time.Unix(1000, 0)}
	f.setVersion(1)
	f.keys = newKeys(Deps{Directory: f.Client, Clock: func() time.Time { return f.now }},
		Config{Environment: apikey.Sandbox, KeyStale: 15 * time.Minute})
	return f
}

// setVersion makes the directory return this version of the tenant.
func (f *fixture) setVersion(version int64) {
	f.SetKeys(func([]byte) *commonv1.Principal { return &commonv1.Principal{TenantId: "t", TenantVersion: version} })
}

func TestOnlyWellFormedKeysOfTheEnvironmentAreLookedUp(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.hash(apikey.New(apikey.Sandbox))
	require.NoError(t, err)
	for _, key := range []string{"", "x", apikey.New(apikey.Production), apikey.New(apikey.Sandbox) + "x"} {
		_, err := f.hash(key)
		require.True(t, problem.Is(err, problem.InvalidAPIKey))
	}
}

func TestAPrincipalIsCachedForAWhile(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, _, known := f.cached("h")
	require.False(t, known)
	fetched, err := f.fetch(t.Context(), "h", 1)
	require.NoError(t, err)
	p, age, _ := f.cached("h")
	require.Zero(t, age)
	require.Equal(t, fetched, p)
	require.Equal(t, 1, f.Calls("ResolveKey"))
	f.now = f.now.Add(5 * time.Second)
	_, age, known = f.cached("h")
	require.Equal(t, 5*time.Second, age)
	require.True(t, known)
}

func TestARevokedKeyIsRemoved(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.fetch(t.Context(), "h", 1)
	require.NoError(t, err)
	f.SetKeys(func([]byte) *commonv1.Principal { return nil })
	_, err = f.fetch(t.Context(), "h", 1)
	require.True(t, problem.Is(err, problem.InvalidAPIKey))
	_, _, known := f.cached("h")
	require.False(t, known)
}

func TestASlowLookUpDoesNotReplaceANewerPrincipal(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, version := range []int64{5, 4} {
		f.setVersion(version)
		_, err := f.fetch(t.Context(), "h", 1)
		require.NoError(t, err)
	}
	p, _, _ := f.cached("h")
	require.EqualValues(t, 5, p.TenantVersion)
}

func TestAKeyThatIsLookedUpAgainReplacesNoOtherOne(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for i := range maxKeys {
		f.add(strconv.Itoa(i), &entry{})
	}
	f.add("0", &entry{})
	require.Equal(t, maxKeys, len(f.byHash)) //nolint:testifylint // Len would print all of them.
	f.add("new", &entry{})
	require.Equal(t, maxKeys, len(f.byHash)) //nolint:testifylint // Len would print all of them.
}

func TestAnOutageOfTheDirectoryIsNotAnInvalidKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.Fail(errors.New("down"))
	_, err := f.fetch(t.Context(), "h", 1)
	require.Error(t, err)
	require.False(t, problem.Is(err, problem.InvalidAPIKey))
}

// know makes the fixture know a key that was looked up this long ago.
func (f *fixture) know(t *testing.T, age time.Duration) (p caller.Principal) {
	t.Helper()
	p, err := f.fetch(t.Context(), "h", 1)
	require.NoError(t, err)
	f.now = f.now.Add(age)
	return p
}

func TestAKnownKeyWorksWhileTheDirectoryFails(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		age       time.Duration
		confirmed bool
		works     bool
	}{
		"confirmed":                {14 * time.Minute, true, true},
		"confirmed, but stale":     {15 * time.Minute, true, false},
		"not confirmed for 5 s":    {5 * time.Second, false, false},
		"confirmed just too early": {5 * time.Second, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			known := f.know(t, tc.age)
			f.Fail(problem.Unavailable())
			for range 2 {
				p, err := f.refresh(t.Context(), "h", known, tc.age, tc.confirmed)
				if !tc.works {
					require.True(t, problem.Is(err, problem.ServiceUnavailable))
					continue
				}
				require.NoError(t, err)
				require.Equal(t, known, p)
			}
			f.Fail(nil)
			f.setVersion(2)
			f.now = f.now.Add(time.Second)
			p, err := f.refresh(t.Context(), "h", known, tc.age, tc.confirmed)
			require.NoError(t, err)
			require.EqualValues(t, 2, p.TenantVersion, "it is looked up again once the directory answers")
		})
	}
}

// What a request finds decides whether its key is looked up: the version in Redis, and the age of what is cached.
func TestACachedKeyIsUsedOnlyWhileItIsConfirmed(t *testing.T) {
	t.Parallel()
	const lease = tenants.VersionLease
	for name, tc := range map[string]struct {
		version int64
		age     time.Duration
		lookUps int
	}{
		"its version is the newest":             {1, lease - 1, 0},
		"there is a newer one":                  {2, 0, 1},
		"Redis is behind":                       {-1, lease - 1, 0},
		"Redis does not answer, or has lost it": {0, 0, 1},
		"a newer version was never published":   {1, lease, 1},
		"the same, and Redis is behind":         {-1, lease, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			f.know(t, tc.age)
			f.SetKeys(func([]byte) *commonv1.Principal { return nil })
			_, err := f.latest(t.Context(), "h", tc.version)
			require.Equal(t, tc.lookUps > 0, problem.Is(err, problem.InvalidAPIKey), "%v", err)
			require.Equal(t, 1+tc.lookUps, f.Calls("ResolveKey"))
		})
	}
}

func TestAPrincipalThatIsConfirmedIsNotLookedUp(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.SetChanges(func(since string) *tenantsv1.ListChangesResponse {
		return &tenantsv1.ListChangesResponse{Until: "1", Any: since == ""}
	})
	var p caller.Principal
	var age time.Duration
	require.Eventually(t, func() bool { // The first call for changes confirms nothing.
		f.know(t, tenants.VersionLease/2)
		f.copies.Used(t.Context())
		time.Sleep(10 * time.Millisecond) //nolint:forbidigo // The call is answered in the background.
		f.now = f.now.Add(tenants.VersionLease / 2)
		p, age, _ = f.cached("h")
		return age < tenants.VersionLease
	}, 30*time.Second, time.Millisecond)
	lookUps := f.Calls("ResolveKey")
	_, err := f.latest(t.Context(), "h", p.TenantVersion)
	require.NoError(t, err)
	require.Equal(t, lookUps, f.Calls("ResolveKey"))
}

// A look-up that is in flight may have read the key before a change that was answered since.
func TestALookUpIsNotSharedIfRedisMayLackTheVersionOfAChange(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		version          int64
		newRedis, moving bool
	}{
		"Redis has no version":                                {0, false, false},
		"Redis has the same version, and is another one":      {1, true, false},
		"Redis has the same version, and the tenant is moved": {1, false, true},
		"Redis has a newer version, and the tenant is moved":  {2, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			f.SetKeys(func([]byte) *commonv1.Principal {
				return &commonv1.Principal{TenantId: "t", TenantVersion: 1, Moving: tc.moving}
			})
			f.know(t, time.Second)
			if tc.newRedis {
				f.newRedisAt.Store(int64(time.Second))
			}
			let := make(chan struct{})
			f.OnCall(func(context.Context, proto.Message) error { <-let; return nil })
			var requests errgroup.Group
			for range 3 {
				requests.Go(func() error {
					_, err := f.latest(t.Context(), "h", tc.version)
					return err
				})
			}
			require.Eventually(t, func() bool { return f.Calls("ResolveKey") == 4 }, 30*time.Second, time.Millisecond)
			close(let)
			require.NoError(t, requests.Wait())
		})
	}
}

// A change waits a little longer than the lease for Redis to take its version. A gateway that has not seen Redis take a write for
// so long may have missed one.
func TestAKeyGoesOnWithoutTheDirectoryOnlyIfRedisTookEveryVersion(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pause time.Duration
		works bool
	}{"it did": {tenants.VersionLease - 1, true}, "it may not have": {tenants.VersionLease, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			f.noteConfirmed()
			f.know(t, time.Second)
			f.noteConfirmed()
			f.now = f.now.Add(tc.pause)
			f.noteConfirmed()
			f.Fail(problem.Unavailable())
			f.now = f.now.Add(tenants.VersionLease - 1)
			f.noteConfirmed()
			_, err := f.latest(t.Context(), "h", 1)
			require.Equal(t, tc.works, err == nil, "%v", err)
			f.Fail(nil)
			_, err = f.latest(t.Context(), "h", 1)
			require.NoError(t, err)
			f.Fail(problem.Unavailable())
			f.now = f.now.Add(tenants.VersionLease - 1)
			f.noteConfirmed()
			f.now = f.now.Add(1)
			_, err = f.latest(t.Context(), "h", 1)
			require.NoError(t, err, "it was looked up since")
		})
	}
}

// A Redis that is set back returns the version from before a change that was answered because it had taken it.
func TestAKeyIsLookedUpAgainAfterARestartOfRedis(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c := &Checker{deps: Deps{Clock: func() time.Time { return f.now }}, keys: f.keys}
	f.now = f.now.Add(time.Second)
	c.NoteNewRedis()
	f.now = f.now.Add(time.Second)
	known := f.know(t, time.Second)
	f.SetKeys(func([]byte) *commonv1.Principal { return nil })
	latest := func() error {
		_, err := f.latest(t.Context(), "h", known.TenantVersion)
		return err
	}
	require.NoError(t, latest(), "it was looked up since")
	c.NoteNewRedis()
	f.Fail(problem.Unavailable())
	for range 2 {
		require.True(t, problem.Is(latest(), problem.ServiceUnavailable), "the cached principal is not used without a look-up")
	}
	f.Fail(nil)
	require.True(t, problem.Is(latest(), problem.InvalidAPIKey))
}

func TestARevokedKeyIsNotRefreshed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	known := f.know(t, time.Minute)
	f.SetKeys(func([]byte) *commonv1.Principal { return nil })
	_, err := f.refresh(t.Context(), "h", known, time.Minute, true)
	require.True(t, problem.Is(err, problem.InvalidAPIKey))
}

func TestAKnownKeyDoesNotWaitForADirectoryThatHangs(t *testing.T) {
	t.Parallel()
	f := setup(t)
	known := f.know(t, time.Minute)
	let := f.hang()
	p, err := f.refresh(t.Context(), "h", known, time.Minute, true)
	require.NoError(t, err, "the look-up goes on without the request")
	require.Equal(t, known, p)

	f.setVersion(3)
	close(let)
	require.Eventually(t, func() bool {
		p, err := f.fetch(t.Context(), "h", known.TenantVersion)
		return err == nil && p.TenantVersion == 3
	}, 30*time.Second, time.Millisecond)
	require.Zero(t, f.failedAt.Load())
}

func TestANewKeyWaitsForTheTimeoutOfItsLookUp(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.lookUpTimeout = time.Millisecond
	defer close(f.hang())
	_, err := f.fetch(t.Context(), "h", 0)
	require.True(t, problem.Is(err, problem.ServiceUnavailable))
}

// hang makes the directory answer only once the channel is closed.
func (f *fixture) hang() (let chan struct{}) {
	let = make(chan struct{})
	f.OnCall(func(ctx context.Context, _ proto.Message) error {
		select {
		case <-let:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
	return let
}

// Hundreds of new keys at once make the directory slow for each of them. One that fails must not cut off the others.
func TestANewKeyWaitsForASlowDirectoryAlsoAfterAFailure(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.Fail(problem.Unavailable())
	_, err := f.fetch(t.Context(), "fails", 0)
	require.Error(t, err)
	f.Fail(nil)
	f.OnCall(func(context.Context, proto.Message) error {
		time.Sleep(2 * shortTimeout) //nolint:forbidigo // The directory is slow.
		return nil
	})
	_, err = f.fetch(t.Context(), "slow", 0)
	require.NoError(t, err)
}

func TestACallerThatLeavesDuringALookUpIsNoOutage(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx, leave := context.WithCancel(t.Context())
	f.OnCall(func(lookUp context.Context, _ proto.Message) error {
		leave()
		<-lookUp.Done()
		return lookUp.Err()
	})
	_, err := f.fetch(ctx, "h", 0)
	require.ErrorIs(t, err, context.Canceled)
}

func TestAKeyOfATenantThatMovesIsLookedUpWithEveryRequest(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.know(t, time.Second)
	moving := &commonv1.Principal{TenantId: "t", TenantVersion: 2, Cell: "a", Moving: true}
	f.SetKeys(func([]byte) *commonv1.Principal { return moving })
	for n := range 3 {
		p, err := f.latest(t.Context(), "h", 2)
		require.NoError(t, err)
		require.True(t, p.Moving)
		require.Equal(t, 2+n, f.Calls("ResolveKey"))
	}
	f.Fail(problem.Unavailable())
	_, err := f.latest(t.Context(), "h", 2)
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "no older principal is used: %v", err)
	f.Fail(nil)

	f.SetKeys(func([]byte) *commonv1.Principal {
		return &commonv1.Principal{TenantId: "t", TenantVersion: 3, Cell: "b"}
	})
	before := f.Calls("ResolveKey")
	for range 3 {
		p, err := f.latest(t.Context(), "h", 3)
		require.NoError(t, err)
		require.Equal(t, "b", p.Cell)
	}
	require.Equal(t, before+1, f.Calls("ResolveKey"), "it is cached again")
}
