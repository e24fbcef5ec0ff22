package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/actor"
	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// UpdateKey replaces name, scopes and brands of a key. A revoked key is not found.
func (o *operations) UpdateKey(ctx context.Context, req *tenantsv1.UpdateKeyRequest) (*tenantsv1.UpdateKeyResponse, error) {
	var errs fields.Errors
	actor.Check(req.GetActor(), &errs)
	wanted := rules.Key(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key, changed, err := o.Store.UpdateKey(ctx, req.GetKeyId(), req.GetActor(), wanted)
	if err != nil {
		return nil, refusedKey(req.GetBrandIds(), err)
	}
	o.Versions.Publish(ctx, changed.TenantID, changed.Version)
	return &tenantsv1.UpdateKeyResponse{Key: key.Proto()}, nil
}
