package server

import (
	"context"

	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// RotateWebhookSecret replaces the signing secret of a key. A revoked key is not found.
func (o *operations) RotateWebhookSecret(
	ctx context.Context, req *tenantsv1.RotateWebhookSecretRequest,
) (*tenantsv1.RotateWebhookSecretResponse, error) {
	secret := rules.NewWebhookSecret()
	changed, err := o.Store.SetWebhookSecret(ctx, req.GetKeyId(), o.sealSecret(req.GetKeyId(), secret))
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, changed.TenantID, changed.Version)
	return &tenantsv1.RotateWebhookSecretResponse{WebhookSecret: secret}, nil
}
