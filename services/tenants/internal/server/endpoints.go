package server

import (
	"cmp"
	"context"
	"fmt"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// GetEndpoints returns the URLs and signing secrets of keys.
func (d *directory) GetEndpoints(
	ctx context.Context, req *tenantsv1.GetEndpointsRequest,
) (*tenantsv1.GetEndpointsResponse, error) {
	found, err := d.store.Endpoints(ctx, req.GetKeyIds(), cmp.Or(req.GetCell(), identity.HomeCell))
	if err != nil {
		return nil, err
	}
	out := &tenantsv1.GetEndpointsResponse{}
	for _, e := range found {
		out.Endpoints = append(out.Endpoints, d.endpoint(ctx, e))
	}
	return out, nil
}

// endpoint decrypts the secret of an active endpoint only. If that fails, the endpoint is paused: its deliveries wait, and the
// other endpoints of the call are returned.
func (d *directory) endpoint(ctx context.Context, e store.Endpoint) *tenantsv1.Endpoint {
	out := &tenantsv1.Endpoint{KeyId: e.KeyID, State: stateOf(e)}
	if out.GetState() != tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE {
		return out
	}
	secret, err := d.ring.Open(e.SealedSecret, rules.SecretData(e.KeyID))
	if err != nil {
		d.log.ErrorContext(ctx, "cannot decrypt a signing secret, its deliveries wait", "key_id", e.KeyID, "error", err)
		out.State = tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED
		return out
	}
	out.Url, out.Secret = *e.URL, string(secret)
	out.Scopes, out.AllBrands, out.BrandIds = e.Scopes, e.AllBrands, e.BrandIDs
	if e.SealedPrevious == nil {
		return out
	}
	previous, err := d.ring.Open(e.SealedPrevious, rules.SecretData(e.KeyID))
	if err != nil {
		d.log.ErrorContext(ctx, "cannot decrypt a rotated signing secret, only the new one signs", "key_id", e.KeyID, "error", err)
		return out
	}
	out.PreviousSecret, out.PreviousSignsFor = string(previous), durationpb.New(e.PreviousSignsFor)
	return out
}

// stateOf returns the final state if both states apply.
func stateOf(e store.Endpoint) tenantsv1.EndpointState {
	switch {
	case e.Revoked || e.URL == nil:
		return tenantsv1.EndpointState_ENDPOINT_STATE_GONE
	case !e.APIAccess || e.Elsewhere:
		return tenantsv1.EndpointState_ENDPOINT_STATE_PAUSED
	default:
		return tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE
	}
}

// maxTenantIDs bounds one call.
const maxTenantIDs = 1000

// ListEndpoints lists the keys of the tenants that are not revoked and have a webhook URL. It includes tenants whose access is
// off, because their events are kept for later. If the caller wants to send at once, it also returns where.
func (d *directory) ListEndpoints(
	ctx context.Context, req *tenantsv1.ListEndpointsRequest,
) (*tenantsv1.ListEndpointsResponse, error) {
	var errs fields.Errors
	ids := tenantIDs(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	versions, found, err := d.store.Subscriptions(ctx, ids, cmp.Or(req.GetCell(), identity.HomeCell))
	if err != nil {
		return nil, err
	}
	out := &tenantsv1.ListEndpointsResponse{Versions: versions}
	for _, e := range found {
		s := &tenantsv1.EndpointSubscription{
			TenantId: e.TenantID, KeyId: e.KeyID, Scopes: e.Scopes, AllBrands: e.AllBrands, BrandIds: e.BrandIDs,
		}
		if req.GetWithEndpoints() {
			s.Endpoint = d.endpoint(ctx, e)
		}
		out.Endpoints = append(out.Endpoints, s)
	}
	return out, nil
}

func tenantIDs(req *tenantsv1.ListEndpointsRequest, errs *fields.Errors) []string {
	var ids []string
	switch n := len(req.GetTenantIds()); {
	case n == 0:
		errs.Add("tenantIds", problem.FieldRequired, "is required")
	case n > maxTenantIDs:
		errs.Add("tenantIds", problem.FieldTooLong, "has too many entries")
	default:
		for i, id := range req.GetTenantIds() {
			ids = append(ids, errs.UUID(fmt.Sprintf("tenantIds[%d]", i), id))
		}
	}
	return ids
}

// ListChanges returns which tenants have changed since an earlier call.
func (d *directory) ListChanges(ctx context.Context, req *tenantsv1.ListChangesRequest) (*tenantsv1.ListChangesResponse, error) {
	changes, err := d.store.ChangesSince(ctx, req.GetSince())
	if err != nil {
		return nil, err
	}
	return &tenantsv1.ListChangesResponse{Until: changes.Until, Any: changes.Any, Versions: changes.Versions}, nil
}
