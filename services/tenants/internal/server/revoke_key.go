package server

import (
	"context"
	"time"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// RevokeKey revokes a key for good.
func (o *operations) RevokeKey(ctx context.Context, req *tenantsv1.RevokeKeyRequest) (*tenantsv1.RevokeKeyResponse, error) {
	changed, err := o.Store.RevokeKey(ctx, req.GetKeyId(), o.Now().UTC().Truncate(time.Microsecond))
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, changed.TenantID, changed.Version)
	return &tenantsv1.RevokeKeyResponse{}, nil
}
