package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// CreateKey makes a key and its signing secret. Both are returned only here: the store has a hash of the
// key and the sealed secret.
func (o *operations) CreateKey(ctx context.Context, req *tenantsv1.CreateKeyRequest) (*tenantsv1.CreateKeyResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	wanted := rules.Key(req, &errs)
	rules.WebhookURL("webhookUrl", req.WebhookUrl, o.LoopbackWebhooks, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key, secret := apikey.New(o.Environment), rules.NewWebhookSecret()
	stored, version, err := o.Store.CreateKey(ctx, tenantID, by, store.Key{
		Grants: wanted, Prefix: apikey.Prefix(key), WebhookURL: req.WebhookUrl,
	}, store.Secrets{
		Hash: apikey.Hash(key),
		Seal: func(keyID int32) []byte { return o.sealSecret(keyID, secret) },
	})
	out := &tenantsv1.CreateKeyResponse{Key: stored.Proto(), ApiKey: key, WebhookSecret: secret}
	return out, o.publish(ctx, tenantID, version, refusedKey(req.GetBrandIds(), err))
}

// refusedKey turns an error of the store into a problem, with a violation for each brand that the tenant does not have.
func refusedKey(sent []string, err error) error {
	unknown, ok := errors.AsType[*store.UnknownBrandError](err)
	if !ok {
		return asProblem(err)
	}
	var errs fields.Errors
	for i, id := range sent {
		if lower, _ := fields.ParseUUID(id); slices.Contains(unknown.IDs, lower) {
			errs.Add(fmt.Sprintf("brandIds[%d]", i), problem.FieldInvalid, "must be a brand of the tenant")
		}
	}
	return errs.Err()
}

// ResolveKey returns the principal of a key by its hash.
func (d *directory) ResolveKey(ctx context.Context, req *tenantsv1.ResolveKeyRequest) (*tenantsv1.ResolveKeyResponse, error) {
	if len(req.GetKeyHash()) != sha256.Size {
		return nil, invalid("keyHash", problem.FieldInvalid, "must be a SHA-256 digest")
	}
	principal, err := d.store.Resolve(ctx, req.GetKeyHash())
	if err != nil {
		return nil, asProblem(err)
	}
	return &tenantsv1.ResolveKeyResponse{Principal: principal.Proto()}, nil
}

// RevokeKey revokes a key permanently.
func (o *operations) RevokeKey(ctx context.Context, req *tenantsv1.RevokeKeyRequest) (*tenantsv1.RevokeKeyResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key := store.KeyRef{TenantID: tenantID, ID: req.GetKeyId()}
	version, err := o.Store.RevokeKey(ctx, key, by, o.Now().UTC().Truncate(time.Microsecond))
	return &tenantsv1.RevokeKeyResponse{}, o.publish(ctx, tenantID, version, err)
}

// maxOverlap bounds how long a rotated secret also signs.
const maxOverlap = 30 * 24 * time.Hour

// RotateWebhookSecret replaces the signing secret of a key. The previous one stops at once, unless the request has an overlap.
// A repeat returns the same secret. A revoked key is not found.
func (o *operations) RotateWebhookSecret(
	ctx context.Context, req *tenantsv1.RotateWebhookSecretRequest,
) (*tenantsv1.RotateWebhookSecretResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	overlap := req.GetOverlap().AsDuration()
	if req.GetOverlap() != nil && req.GetOverlap().CheckValid() != nil || overlap < 0 || overlap > maxOverlap {
		errs.Add("overlap", problem.FieldInvalid, "must be from 0 to 30 days")
	}
	rotation := store.Rotation{Secret: o.sealSecret(req.GetKeyId(), rules.NewWebhookSecret()), Overlap: overlap}
	if req.RequestId != nil {
		rotation.RequestID = new(errs.RequiredUUID("requestId", req.GetRequestId()))
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	ref := store.KeyRef{TenantID: tenantID, ID: req.GetKeyId()}
	signing, version, err := o.Store.RotateWebhookSecret(ctx, ref, by, rotation)
	if err != nil {
		return nil, asProblem(err)
	}
	secret, err := o.Ring.Open(signing.Secret, rules.SecretData(req.GetKeyId()))
	if err != nil {
		return nil, fmt.Errorf("open the signing secret: %w", err)
	}
	out := &tenantsv1.RotateWebhookSecretResponse{WebhookSecret: string(secret)}
	if signing.PreviousUntil != nil {
		out.PreviousSignsUntil = timestamppb.New(*signing.PreviousUntil)
	}
	return out, o.Versions.Publish(ctx, tenantID, version)
}

// SetWebhookUrl sets or, without a url, removes the webhook URL of a key. A revoked key is not found.
func (o *operations) SetWebhookUrl( //nolint:revive // The generated interface spells it so.
	ctx context.Context, req *tenantsv1.SetWebhookUrlRequest,
) (*tenantsv1.SetWebhookUrlResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	rules.WebhookURL("url", req.Url, o.LoopbackWebhooks, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key, version, err := o.Store.SetWebhookURL(ctx, store.KeyRef{TenantID: tenantID, ID: req.GetKeyId()}, by, req.Url)
	return &tenantsv1.SetWebhookUrlResponse{Key: key.Proto()}, o.publish(ctx, tenantID, version, err)
}

// UpdateKey replaces name, scopes and brands of a key. A revoked key is not found.
func (o *operations) UpdateKey(ctx context.Context, req *tenantsv1.UpdateKeyRequest) (*tenantsv1.UpdateKeyResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	wanted := rules.Key(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	key, version, err := o.Store.UpdateKey(ctx, store.KeyRef{TenantID: tenantID, ID: req.GetKeyId()}, by, wanted)
	return &tenantsv1.UpdateKeyResponse{Key: key.Proto()}, o.publish(ctx, tenantID, version, refusedKey(req.GetBrandIds(), err))
}

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
		resp, err = p.rotateOwn(ctx, store.KeyRef{TenantID: principal.TenantID, ID: principal.KeyID}, req)
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
	ctx context.Context, ref store.KeyRef, req *tenantsv1.RotateOwnWebhookSecretRequest,
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
	rotation := store.Rotation{Secret: p.sealSecret(ref.ID, secret), Overlap: overlap}
	resp, err := p.Store.RotateOwnWebhookSecret(ctx, ref, rotation, func(s store.Signing) (response, stored store.OwnRotation) {
		response, stored = &tenantsv1.RotateOwnWebhookSecretResponse{Secret: &secret}, &tenantsv1.RotateOwnWebhookSecretResponse{}
		if s.PreviousUntil != nil {
			until := timestamppb.New(*s.PreviousUntil)
			response.PreviousSecretsValidUntil, stored.PreviousSecretsValidUntil = until, until
		}
		return response, stored
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.New(problem.InvalidAPIKey, "The API key is not valid.")
	}
	return resp, err
}
