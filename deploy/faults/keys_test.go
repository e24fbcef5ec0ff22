//go:build faults

package faults_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/identity"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// newClient asks both gateways over the network.
func (s *site) newClient(t *testing.T, v *verdict) *client {
	t.Helper()
	c := &client{
		http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * writers}}, turn: &atomic.Uint64{}, verdict: v,
	}
	for _, i := range s.of(identity.Gateway) {
		c.bases = append(c.bases, baseOf(s.network.to(t, toGateways, "to "+i.name, i.addr)))
	}
	return c
}

// baseOf is the base address of the API of the gateway at the address.
func baseOf(addr string) string { return "http://" + addr + "/api/public/v1" }

// newReader makes a key, limited to the brand if one is named.
func (s *site) newReader(t *testing.T, name, tenant, brand string, scopes ...commonv1.Scope) reader {
	t.Helper()
	req := &tenantsv1.CreateKeyRequest{TenantId: tenant, Name: name, Scopes: scopes, AllBrands: brand == ""}
	if brand != "" {
		req.BrandIds = []string{brand}
	}
	made, err := s.keys.CreateKey(t.Context(), req)
	require.NoError(t, err)
	return reader{
		name: name, tenant: tenant, key: made.GetApiKey(), keyID: made.GetKey().GetId(), secret: made.GetWebhookSecret(),
		scopes: scopes, brand: brand,
	}
}

// newKey is for who needs many.
func (s *site) newKey(ctx context.Context) (key string, id int32, err error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	made, err := s.keys.CreateKey(ctx, &tenantsv1.CreateKeyRequest{TenantId: seed.Direct, Name: "crowd", Scopes: allScopes, AllBrands: true})
	return made.GetApiKey(), made.GetKey().GetId(), err
}
