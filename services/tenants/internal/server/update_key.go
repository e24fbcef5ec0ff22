package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// UpdateKey replaces name, scopes and brands of a key. A revoked key is not found.
func (o *operations) UpdateKey(ctx context.Context, req *tenantsv1.UpdateKeyRequest) (*tenantsv1.UpdateKeyResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_UpdateKey_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	wanted := rules.Key(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key, version, err := o.Store.UpdateKey(ctx, store.OfKey{TenantID: tenantID, ID: req.GetKeyId()}, by, wanted)
	if err != nil {
		return nil, refusedKey(req.GetBrandIds(), err)
	}
	return &tenantsv1.UpdateKeyResponse{Key: key.Proto()}, o.Versions.Publish(ctx, tenantID, version)
}
