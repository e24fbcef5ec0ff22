package server_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/versions"
)

func TestResolveKeyDoesNotTellWhyAKeyIsRefused(t *testing.T) {
	b := setup(t)
	tenant := b.tenant()
	revoked, live := b.key(tenant), b.key(tenant)
	_, err := b.ops.RevokeKey(t.Context(), &tenantsv1.RevokeKeyRequest{KeyId: revoked.GetKey().GetId()})
	require.NoError(t, err)
	_, err = b.resolve(live.GetApiKey())
	require.NoError(t, err)
	b.setAccess(tenant, false)

	refusals := map[string]string{
		"unknown": apikey.New(apikey.Sandbox), "revoked": revoked.GetApiKey(), "access off": live.GetApiKey(),
	}
	for name, key := range refusals {
		t.Run(name, func(t *testing.T) {
			_, err := b.resolve(key)
			p, ok := problem.As(err)
			require.True(t, ok)
			require.Equal(t, problem.RecordNotFound(), p)
		})
	}

	t.Run("the key works again once access is back", func(t *testing.T) {
		b.setAccess(tenant, true)
		_, err := b.resolve(live.GetApiKey())
		require.NoError(t, err)
	})
	t.Run("what is no digest is refused as such", func(t *testing.T) {
		_, err := b.directory.ResolveKey(t.Context(), &tenantsv1.ResolveKeyRequest{KeyHash: []byte("short")})
		requireFaults(t, err, "keyHash invalid")
	})
}

func TestRevokeKey(t *testing.T) {
	b := setup(t)
	tenant := b.tenant()
	made, neighbour := b.key(tenant), b.key(tenant)
	id := made.GetKey().GetId()
	ctx := b.as(made.GetApiKey())
	before := b.settings(tenant).GetVersion()
	revoke := func(id int32) error {
		_, err := b.ops.RevokeKey(t.Context(), &tenantsv1.RevokeKeyRequest{KeyId: id})
		return err
	}
	require.NoError(t, revoke(id))

	t.Run("it is refused everywhere at once", func(t *testing.T) {
		_, err := b.resolve(made.GetApiKey())
		requireProblem(t, err, problem.NotFound)
		_, err = b.public.GetMe(ctx, &tenantsv1.GetMeRequest{})
		requireProblem(t, err, problem.InvalidAPIKey)
		require.Equal(t, tenantsv1.EndpointState_ENDPOINT_STATE_GONE, b.endpoint(id).GetState())
		require.Empty(t, b.endpoint(id).GetSecret())
		list, err := b.directory.ListEndpoints(t.Context(), &tenantsv1.ListEndpointsRequest{TenantIds: []string{tenant}})
		require.NoError(t, err)
		require.Len(t, list.GetEndpoints(), 1)
		require.Equal(t, neighbour.GetKey().GetId(), list.GetEndpoints()[0].GetKeyId())
	})

	t.Run("the edges learn of it, and repeating it changes nothing", func(t *testing.T) {
		require.NoError(t, revoke(id))
		require.Equal(t, before+1, b.settings(tenant).GetVersion())
		published, err := b.redis.Get(t.Context(), versions.Key(tenant)).Result()
		require.NoError(t, err)
		require.Equal(t, strconv.FormatInt(before+1, 10), published)
	})

	t.Run("a revoked key cannot be changed any more", func(t *testing.T) {
		_, err := b.ops.RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{KeyId: id})
		requireProblem(t, err, problem.NotFound)
		_, err = b.ops.SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: id})
		requireProblem(t, err, problem.NotFound)
		require.Equal(t, before+1, b.settings(tenant).GetVersion())
	})

	t.Run("an unknown key is not found", func(t *testing.T) {
		for _, unknown := range []int32{0, -1, 1 << 30} {
			requireProblem(t, revoke(unknown), problem.NotFound)
		}
	})
}

func TestSetWebhookURL(t *testing.T) {
	b := setup(t)
	tenant := b.tenant()
	id := b.key(tenant).GetKey().GetId()
	set := func(url *string) (*tenantsv1.SetWebhookUrlResponse, error) {
		return b.ops.SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: id, Url: url})
	}

	t.Run("a new URL is used at once", func(t *testing.T) {
		before := b.settings(tenant).GetVersion()
		resp, err := set(pointer("https://other.example.com/hook"))
		require.NoError(t, err)
		require.Equal(t, "https://other.example.com/hook", resp.GetKey().GetWebhookUrl())
		require.Equal(t, "https://other.example.com/hook", b.endpoint(id).GetUrl())
		_, err = set(pointer("https://other.example.com/hook"))
		require.NoError(t, err)
		require.Equal(t, before+1, b.settings(tenant).GetVersion())
	})

	t.Run("no URL removes it", func(t *testing.T) {
		resp, err := set(nil)
		require.NoError(t, err)
		require.Nil(t, resp.GetKey().WebhookUrl)
		require.Equal(t, tenantsv1.EndpointState_ENDPOINT_STATE_GONE, b.endpoint(id).GetState())
		list, err := b.directory.ListEndpoints(t.Context(), &tenantsv1.ListEndpointsRequest{TenantIds: []string{tenant}})
		require.NoError(t, err)
		require.Empty(t, list.GetEndpoints())
	})

	t.Run("what cannot be called is refused", func(t *testing.T) {
		for url, fault := range map[string]string{"": "url required", "http://example.com": "url invalid", "https://192.168.0.1": "url invalid"} {
			_, err := set(&url)
			requireFaults(t, err, fault)
		}
	})

	t.Run("an unknown key is not found", func(t *testing.T) {
		_, err := b.ops.SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: id + 1000})
		requireProblem(t, err, problem.NotFound)
	})
}

func TestARotatedSecretWorksAtOnce(t *testing.T) {
	b := setup(t)
	tenant := b.tenant()
	made, neighbour := b.key(tenant), b.key(tenant)
	id := made.GetKey().GetId()
	require.Equal(t, made.GetWebhookSecret(), b.endpoint(id).GetSecret())

	before := b.settings(tenant).GetVersion()
	rotated, err := b.ops.RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{KeyId: id})
	require.NoError(t, err)
	require.NotEqual(t, made.GetWebhookSecret(), rotated.GetWebhookSecret())
	require.Regexp(t, `^[0-9a-f]{64}$`, rotated.GetWebhookSecret())
	require.Equal(t, rotated.GetWebhookSecret(), b.endpoint(id).GetSecret())
	require.Equal(t, neighbour.GetWebhookSecret(), b.endpoint(neighbour.GetKey().GetId()).GetSecret())
	require.Equal(t, before+1, b.settings(tenant).GetVersion())

	_, err = b.ops.RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{KeyId: id + 1000})
	requireProblem(t, err, problem.NotFound)
}
