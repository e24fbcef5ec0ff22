package access_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/gateway/internal/access"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

type directory struct {
	tenantsv1.DirectoryServiceClient
	fault   error
	version int64
	calls   int
}

func (d *directory) ResolveKey(
	context.Context, *tenantsv1.ResolveKeyRequest, ...grpc.CallOption,
) (*tenantsv1.ResolveKeyResponse, error) {
	d.calls++
	if d.fault != nil {
		return nil, d.fault
	}
	return &tenantsv1.ResolveKeyResponse{Principal: &commonv1.Principal{TenantId: "t", TenantVersion: d.version}}, nil
}

func setup() (*directory, *access.Keys, *time.Time) {
	d := &directory{version: 1}
	now := time.Unix(1000, 0)
	return d, access.NewKeys(d, apikey.Sandbox, func() time.Time { return now }), &now
}

func TestOnlyWellFormedKeysOfTheEnvironmentAreLookedUp(t *testing.T) {
	_, keys, _ := setup()
	_, err := keys.Hash(apikey.New(apikey.Sandbox))
	require.NoError(t, err)
	for _, key := range []string{"", "x", apikey.New(apikey.Production), apikey.New(apikey.Sandbox) + "x"} {
		_, err := keys.Hash(key)
		require.True(t, problem.Is(err, problem.InvalidAPIKey))
	}
}

func TestAPrincipalIsBelievedForAWhile(t *testing.T) {
	d, keys, now := setup()
	_, _, known := keys.Known("h")
	require.False(t, known)
	fetched, err := keys.Fetch(t.Context(), "h")
	require.NoError(t, err)
	p, fresh, _ := keys.Known("h")
	require.True(t, fresh)
	require.Equal(t, fetched, p)
	require.Equal(t, 1, d.calls)
	*now = now.Add(5 * time.Second)
	_, fresh, known = keys.Known("h")
	require.False(t, fresh)
	require.True(t, known, "it is asked for again, but not a stranger")
}

func TestARevokedKeyIsForgotten(t *testing.T) {
	d, keys, _ := setup()
	_, err := keys.Fetch(t.Context(), "h")
	require.NoError(t, err)
	d.fault = problem.RecordNotFound()
	_, err = keys.Fetch(t.Context(), "h")
	require.True(t, problem.Is(err, problem.InvalidAPIKey))
	_, _, known := keys.Known("h")
	require.False(t, known)
}

func TestASlowAnswerDoesNotReplaceANewerOne(t *testing.T) {
	d, keys, _ := setup()
	d.version = 5
	_, err := keys.Fetch(t.Context(), "h")
	require.NoError(t, err)
	d.version = 4
	_, err = keys.Fetch(t.Context(), "h")
	require.NoError(t, err)
	p, _, _ := keys.Known("h")
	require.EqualValues(t, 5, p.TenantVersion)
}

func TestAnOutageIsNotARefusal(t *testing.T) {
	d, keys, _ := setup()
	d.fault = errors.New("down")
	_, err := keys.Fetch(t.Context(), "h")
	require.Error(t, err)
	require.False(t, problem.Is(err, problem.InvalidAPIKey))
}
