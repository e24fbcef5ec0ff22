package server

import (
	"context"
	"fmt"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// maxTenantIDs bounds what one call asks of the database.
const maxTenantIDs = 1000

// ListEndpoints lists every key of the tenants that is not revoked and has a webhook URL. Access
// that is switched off does not matter: events go on being recorded for later.
func (d *Directory) ListEndpoints(
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

// tenantIDs refuses a call that names nobody: for a caller of another version, "no endpoints" would be
// an answer that loses deliveries.
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
