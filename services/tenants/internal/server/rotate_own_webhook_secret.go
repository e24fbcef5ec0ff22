package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const maxOwnOverlap = 7 * 24 * time.Hour

// RotateOwnWebhookSecret replaces the signing secret of the calling key, once per Idempotency-Key. Only the first response has the
// new secret: it is not stored with the response. If that one was lost, the key rotates again. A repetition also waits until the
// rotation has taken effect, because the first call may still do so.
func (p *public) RotateOwnWebhookSecret(
	ctx context.Context, req *tenantsv1.RotateOwnWebhookSecretRequest,
) (*tenantsv1.RotateOwnWebhookSecretResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	resp, found, err := idempotency.Replay[*tenantsv1.RotateOwnWebhookSecretResponse](ctx, p.Store.Pool())
	if !found && err == nil {
		resp, err = p.rotateOwn(ctx, store.OfKey{TenantID: principal.TenantID, ID: principal.KeyID}, req)
	}
	if err != nil {
		return nil, err
	}
	version, err := p.Store.Version(ctx, principal.TenantID)
	if err != nil {
		return nil, err
	}
	return resp, p.Versions.Publish(ctx, principal.TenantID, version)
}

func (p *public) rotateOwn(
	ctx context.Context, of store.OfKey, req *tenantsv1.RotateOwnWebhookSecretRequest,
) (*tenantsv1.RotateOwnWebhookSecretResponse, error) {
	errs := caller.RequestErrors(ctx)
	overlap := time.Duration(req.GetOverlapSeconds()) * time.Second
	if overlap < 0 || overlap > maxOwnOverlap {
		errs.Add("overlapSeconds", problem.FieldInvalid, "must be from 0 to 604800")
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	secret := rules.NewWebhookSecret()
	rotation := store.Rotation{Secret: p.sealSecret(of.ID, secret), Overlap: overlap}
	resp, err := p.Store.RotateOwnWebhookSecret(ctx, of, rotation, func(s store.Signing) (response, stored store.OwnRotation) {
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
	return resp, err
}
