package server_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestListEndpoints(t *testing.T) {
	t.Parallel()
	f := setup(t)
	tenant, other, third := f.tenant(), f.tenant(), f.tenant()
	brand := f.brand(tenant, "Aurora")
	onlyOfThird := f.createKey(third)
	subscriptionOf := func(tenantID string, made *tenantsv1.CreateKeyResponse) *tenantsv1.EndpointSubscription {
		return &tenantsv1.EndpointSubscription{
			TenantId: tenantID, KeyId: made.GetKey().GetId(), Scopes: made.GetKey().GetScopes(), AllBrands: true,
		}
	}
	first, second := subscriptionOf(other, f.createKey(other)), subscriptionOf(other, f.createKey(other))
	made := call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{
		Actor: staff, TenantId: tenant, Name: "Limited", BrandIds: []string{brand}, WebhookUrl: pointer("https://a.example.com/"),
		Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	})
	limited := &tenantsv1.EndpointSubscription{
		TenantId: tenant, KeyId: made.GetKey().GetId(), Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}, BrandIds: []string{brand},
	}
	call(t, f.ops.CreateKey, &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: tenant, Name: "No webhook", AllBrands: true})
	names := func(t *testing.T, req *tenantsv1.ListEndpointsRequest, want ...*tenantsv1.EndpointSubscription) {
		t.Helper()
		resp := call(t, f.directory.ListEndpoints, req)
		require.Equal(t, (&tenantsv1.ListEndpointsResponse{Endpoints: want, Versions: resp.GetVersions()}).String(), resp.String())
	}
	t.Run("it lists the tenant's keys with a webhook, even while access is off", func(t *testing.T) {
		f.setAccess(tenant, false)
		names(t, &tenantsv1.ListEndpointsRequest{TenantIds: []string{tenant}}, limited)
	})
	t.Run("for several tenants it lists the keys of each once, and no others", func(t *testing.T) {
		names(t, &tenantsv1.ListEndpointsRequest{
			TenantIds: []string{other, newID(), strings.ToUpper(tenant), other},
		}, limited, first, second)
	})
	t.Run("an unknown tenant has none", func(t *testing.T) {
		names(t, &tenantsv1.ListEndpointsRequest{TenantIds: []string{newID()}})
	})
	t.Run("it returns the version of each tenant that exists, which grows with a change of a key", func(t *testing.T) {
		none := f.tenant()
		versions := func() map[string]int64 {
			resp := call(t, f.directory.ListEndpoints, &tenantsv1.ListEndpointsRequest{TenantIds: []string{tenant, none, newID()}})
			return resp.GetVersions()
		}
		before := versions()
		require.Len(t, before, 2)
		require.Positive(t, before[none])
		call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: third, KeyId: onlyOfThird.GetKey().GetId()})
		names(t, &tenantsv1.ListEndpointsRequest{TenantIds: []string{third}})
		require.Equal(t, before, versions())
		added := f.createKey(none)
		after := versions()
		require.Greater(t, after[none], before[none])
		require.Equal(t, before[tenant], after[tenant])
		call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: none, KeyId: added.GetKey().GetId()})
		require.Greater(t, versions()[none], after[none])
	})
	t.Run("with endpoints it returns what GetEndpoints returns", func(t *testing.T) {
		resp := call(t, f.directory.ListEndpoints, &tenantsv1.ListEndpointsRequest{
			TenantIds: []string{tenant, other}, WithEndpoints: true,
		})
		require.Len(t, resp.GetEndpoints(), 3)
		states := map[tenantsv1.EndpointState]int{}
		for _, e := range resp.GetEndpoints() {
			alone := call(t, f.directory.GetEndpoints, &tenantsv1.GetEndpointsRequest{KeyIds: []int32{e.GetKeyId()}})
			require.Equal(t, alone.GetEndpoints()[0].String(), e.GetEndpoint().String())
			states[e.GetEndpoint().GetState()]++
			require.Equal(t, e.GetTenantId() == other, e.GetEndpoint().GetSecret() != "")
		}
		require.Equal(t, map[tenantsv1.EndpointState]int{
			tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE: 2, tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED: 1,
		}, states)
	})
	t.Run("as many tenants as allowed", func(t *testing.T) {
		names(t, &tenantsv1.ListEndpointsRequest{TenantIds: slices.Repeat([]string{tenant}, 1000)}, limited)
	})
	for name, tc := range map[string]struct {
		req  *tenantsv1.ListEndpointsRequest
		want string
	}{
		"a malformed tenant id": {&tenantsv1.ListEndpointsRequest{TenantIds: []string{tenant, "x"}}, "tenantIds[1] invalid"},
		"no tenant":             {&tenantsv1.ListEndpointsRequest{}, "tenantIds required"},
		"more tenants than allowed": {
			&tenantsv1.ListEndpointsRequest{TenantIds: slices.Repeat([]string{tenant}, 1001)}, "tenantIds too_long",
		},
	} {
		t.Run(name+" is refused", func(t *testing.T) {
			invalid(t, f.directory.ListEndpoints, tc.req, tc.want)
		})
	}
}

func TestGetEndpoints(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant, off := f.tenant(), f.tenant()
	active, paused, gone := f.createKey(tenant), f.createKey(off), f.createKey(off)
	call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: off, KeyId: gone.GetKey().GetId()})
	f.setAccess(off, false)

	resp := call(t, f.directory.GetEndpoints, &tenantsv1.GetEndpointsRequest{KeyIds: []int32{
		active.GetKey().GetId(), paused.GetKey().GetId(), gone.GetKey().GetId(), 1 << 30, -1,
	}})
	got := map[int32]string{}
	for _, e := range resp.GetEndpoints() {
		got[e.GetKeyId()] = e.GetState().String() + " " + e.GetUrl() + " " + e.GetSecret()
	}
	require.Equal(t, map[int32]string{
		active.GetKey().GetId(): "ENDPOINT_STATE_ACTIVE https://hooks.example.com/gifts " + active.GetWebhookSecret(),
		paused.GetKey().GetId(): "ENDPOINT_STATE_PAUSED  ",
		gone.GetKey().GetId():   "ENDPOINT_STATE_GONE  ",
	}, got)
	t.Run("no keys, no endpoints", func(t *testing.T) {
		resp := call(t, f.directory.GetEndpoints, &tenantsv1.GetEndpointsRequest{})
		require.Empty(t, resp.GetEndpoints())
	})
	t.Run("a secret that cannot be decrypted pauses its endpoint", func(t *testing.T) {
		otherRing := serve(t, f.pool, ringOf(t, "k2", "b"))
		e := otherRing.endpoint(active.GetKey().GetId())
		require.Equal(t, tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED, e.GetState())
		require.Empty(t, e.GetUrl())
	})
	t.Run("a secret copied to another key cannot be decrypted", func(t *testing.T) {
		other := f.createKey(tenant)
		pgtest.Exec(t, f.pool, `UPDATE api_keys SET webhook_secret =
			(SELECT webhook_secret FROM api_keys WHERE id = $1) WHERE id = $2`, active.GetKey().GetId(), other.GetKey().GetId())
		require.Equal(t, tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED, f.endpoint(other.GetKey().GetId()).GetState())
	})
}
