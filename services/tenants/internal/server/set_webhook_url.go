package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// SetWebhookUrl sets or, without a url, removes the webhook URL of a key. A revoked key is not found.
func (o *operations) SetWebhookUrl( //nolint:revive // The generated interface spells it so.
	ctx context.Context, req *tenantsv1.SetWebhookUrlRequest,
) (*tenantsv1.SetWebhookUrlResponse, error) {
	var errs fields.Errors
	rules.WebhookURL("url", req.Url, o.LoopbackWebhooks, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key, changed, err := o.Store.SetWebhookURL(ctx, req.GetKeyId(), req.Url)
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, changed.TenantID, changed.Version)
	return &tenantsv1.SetWebhookUrlResponse{Key: key.Proto()}, nil
}
