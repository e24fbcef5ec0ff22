package server

import (
	"context"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// GetEndpoints returns the URLs and signing secrets of keys.
func (d *directory) GetEndpoints(
	ctx context.Context, req *tenantsv1.GetEndpointsRequest,
) (*tenantsv1.GetEndpointsResponse, error) {
	found, err := d.store.Endpoints(ctx, req.GetKeyIds())
	if err != nil {
		return nil, err
	}
	out := &tenantsv1.GetEndpointsResponse{}
	for _, e := range found {
		out.Endpoints = append(out.Endpoints, d.endpoint(ctx, e))
	}
	return out, nil
}

// endpoint opens the secret of an active endpoint only. If a secret does not open, the endpoint is paused:
// its deliveries wait, and the other endpoints of the call are returned.
func (d *directory) endpoint(ctx context.Context, e store.Endpoint) *tenantsv1.Endpoint {
	out := &tenantsv1.Endpoint{KeyId: e.KeyID, State: stateOf(e)}
	if out.GetState() != tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE {
		return out
	}
	secret, err := d.ring.Open(e.SealedSecret, rules.SecretData(e.KeyID))
	if err != nil {
		d.log.ErrorContext(ctx, "signing secret does not open; deliveries wait", "key_id", e.KeyID, "error", err)
		out.State = tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED
		return out
	}
	out.Url, out.Secret = *e.URL, string(secret)
	return out
}

// stateOf prefers the final state to the temporary one.
func stateOf(e store.Endpoint) tenantsv1.EndpointState {
	switch {
	case e.Revoked || e.URL == nil:
		return tenantsv1.EndpointState_ENDPOINT_STATE_GONE
	case !e.APIAccess:
		return tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED
	default:
		return tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE
	}
}
