package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	defaultOwnOverlap = 24 * time.Hour
	maxOwnOverlap     = 7 * 24 * time.Hour
)

// RotateOwnWebhookSecret replaces the signing secret of the calling key, once per Idempotency-Key. Only the first response has the
// new secret: it is not stored with the response. If that one was lost, the receiver's secret signs for the overlap, and the key
// rotates again.
func (p *public) RotateOwnWebhookSecret(
	ctx context.Context, req *tenantsv1.RotateOwnWebhookSecretRequest,
) (*tenantsv1.RotateOwnWebhookSecretResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	if resp, found, err := idempotency.Replay[*tenantsv1.RotateOwnWebhookSecretResponse](ctx, p.Store.Pool()); found || err != nil {
		return resp, err
	}
	errs := fields.FromContext(ctx)
	overlap := ownOverlap(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	of, secret := store.OfKey{TenantID: principal.TenantID, ID: principal.KeyID}, rules.NewWebhookSecret()
	rotation := store.Rotation{Secret: p.sealSecret(of.ID, secret), Overlap: overlap}
	resp, version, err := p.Store.RotateOwnWebhookSecret(ctx, of, rotation, func(s store.Signing) (response, stored store.OwnRotation) {
		response, stored = &tenantsv1.RotateOwnWebhookSecretResponse{Secret: &secret}, &tenantsv1.RotateOwnWebhookSecretResponse{}
		if s.Until != nil {
			until := timestamppb.New(*s.Until)
			response.PreviousSecretsValidUntil, stored.PreviousSecretsValidUntil = until, until
		}
		return response, stored
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.New(problem.InvalidAPIKey, "The API key is not valid.")
	}
	if err != nil {
		return nil, err
	}
	if version != 0 {
		p.Versions.Publish(ctx, of.TenantID, version)
	}
	return resp, nil
}

func ownOverlap(req *tenantsv1.RotateOwnWebhookSecretRequest, errs *fields.Errors) time.Duration {
	if req.OverlapSeconds == nil {
		return defaultOwnOverlap
	}
	overlap := time.Duration(req.GetOverlapSeconds()) * time.Second
	if overlap < 0 || overlap > maxOwnOverlap {
		errs.Add("overlapSeconds", problem.FieldInvalid, "must be from 0 to 604800")
	}
	return overlap
}
