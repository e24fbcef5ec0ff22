package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// PutCustomField creates or replaces one of a tenant's own order fields.
func (o *operations) PutCustomField(
	ctx context.Context, req *tenantsv1.PutCustomFieldRequest,
) (*tenantsv1.PutCustomFieldResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	field := rules.CustomField(req.GetField(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutCustomField(ctx, tenantID, field, req.GetPosition())
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, tenantID, version)
	return &tenantsv1.PutCustomFieldResponse{Field: field}, nil
}
