package server

import (
	"context"
	"fmt"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// maxTenantIDs bounds one call.
const maxTenantIDs = 1000

// ListEndpoints lists the keys of the tenants that are not revoked and have a webhook URL, also while
// access is off: events are recorded for later.
func (d *directory) ListEndpoints(
	ctx context.Context, req *tenantsv1.ListEndpointsRequest,
) (*tenantsv1.ListEndpointsResponse, error) {
	var errs fields.Errors
	ids := tenantIDs(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	endpoints, err := d.store.Subscriptions(ctx, ids)
	if err != nil {
		return nil, err
	}
	return &tenantsv1.ListEndpointsResponse{Endpoints: endpoints}, nil
}

// tenantIDs demands a tenant. To a caller of another version, an empty list would mean that there are no
// endpoints, and deliveries would be lost.
func tenantIDs(req *tenantsv1.ListEndpointsRequest, errs *fields.Errors) []string {
	var ids []string
	if one := req.GetTenantId(); one != "" {
		ids = append(ids, errs.UUID("tenantId", one))
	}
	switch n := len(ids) + len(req.GetTenantIds()); {
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
