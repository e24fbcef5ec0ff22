package access

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/directorytest"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

type fixture struct {
	*directorytest.Directory
	*keys

	now time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{Directory: directorytest.New(t), now: time.Unix(1000, 0)}
	f.setVersion(1)
	f.keys = newKeys(f.Client, apikey.Sandbox, func() time.Time { return f.now })
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
	fetched, err := f.fetch(t.Context(), "h")
	require.NoError(t, err)
	p, fresh, _ := f.cached("h")
	require.True(t, fresh)
	require.Equal(t, fetched, p)
	require.Equal(t, 1, f.Calls("ResolveKey"))
	f.now = f.now.Add(5 * time.Second)
	_, fresh, known = f.cached("h")
	require.False(t, fresh)
	require.True(t, known, "it must be looked up again, but it has worked before")
}

func TestARevokedKeyIsRemoved(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.fetch(t.Context(), "h")
	require.NoError(t, err)
	f.SetKeys(func([]byte) *commonv1.Principal { return nil })
	_, err = f.fetch(t.Context(), "h")
	require.True(t, problem.Is(err, problem.InvalidAPIKey))
	_, _, known := f.cached("h")
	require.False(t, known)
}

func TestASlowLookUpDoesNotReplaceANewerPrincipal(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, version := range []int64{5, 4} {
		f.setVersion(version)
		_, err := f.fetch(t.Context(), "h")
		require.NoError(t, err)
	}
	p, _, _ := f.cached("h")
	require.EqualValues(t, 5, p.TenantVersion)
}

func TestAnOutageOfTheDirectoryIsNotAnInvalidKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.Fail(errors.New("down"))
	_, err := f.fetch(t.Context(), "h")
	require.Error(t, err)
	require.False(t, problem.Is(err, problem.InvalidAPIKey))
}
