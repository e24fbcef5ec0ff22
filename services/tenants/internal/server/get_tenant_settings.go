package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// GetTenantSettings returns all settings of a tenant, as of one version.
func (d *directory) GetTenantSettings(
	ctx context.Context, req *tenantsv1.GetTenantSettingsRequest,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	settings, err := d.store.Settings(ctx, tenantID)
	if err != nil {
		return nil, refused(err)
	}
	return settings, nil
}
