package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// CreateKey makes a key and its signing secret. Both are in the answer and never again: the store
// keeps a hash of the one and the other sealed.
func (o *Operations) CreateKey(ctx context.Context, req *tenantsv1.CreateKeyRequest) (*tenantsv1.CreateKeyResponse, error) {
	var errs fields.Errors
	wanted := rules.Key(req, &errs)
	rules.WebhookURL("webhookUrl", req.WebhookUrl, o.loopback, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key, secret := apikey.New(o.environment), rules.NewWebhookSecret()
	stored, version, err := o.store.CreateKey(ctx, wanted.TenantID, store.Key{
		Name:       wanted.Name,
		Prefix:     apikey.Shown(key),
		Scopes:     wanted.Scopes,
		AllBrands:  wanted.AllBrands,
		BrandIDs:   wanted.BrandIDs,
		WebhookURL: req.WebhookUrl,
	}, store.Secrets{
		Hash: apikey.Hash(key),
		Seal: func(keyID int32) []byte { return o.sealSecret(keyID, secret) },
	})
	if unknown, ok := errors.AsType[*store.UnknownBrandError](err); ok {
		return nil, unknownBrands(req.GetBrandIds(), unknown)
	}
	if err != nil {
		return nil, refused(err)
	}
	o.versions.Publish(ctx, wanted.TenantID, version)
	return &tenantsv1.CreateKeyResponse{Key: stored.Proto(), ApiKey: key, WebhookSecret: secret}, nil
}
