package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ListEndpoints lists every key of the tenant that is not revoked and has a webhook URL. Access
// that is switched off does not matter: events go on being recorded for later.
func (d *Directory) ListEndpoints(
	ctx context.Context, req *tenantsv1.ListEndpointsRequest,
) (*tenantsv1.ListEndpointsResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	endpoints, err := d.store.Subscriptions(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	return &tenantsv1.ListEndpointsResponse{Endpoints: endpoints}, nil
}
