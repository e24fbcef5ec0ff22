package store

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/seal"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

const (
	// At most one previous secret signs: a rotation ends the overlap of an earlier one.
	updateSigning = `UPDATE api_keys SET webhook_secret = $2, rotation_id = $4, rotated_at = now(),
  previous_webhook_secret = CASE WHEN $3::interval > '0' THEN webhook_secret END,
  previous_signs_until = CASE WHEN $3::interval > '0' THEN now() + $3::interval END
WHERE id = $1 AND revoked_at IS NULL RETURNING webhook_secret, previous_signs_until`

	selectRotation = `SELECT webhook_secret, previous_signs_until FROM api_keys
WHERE id = $1 AND revoked_at IS NULL AND rotation_id = $2 AND rotated_at > now() - interval '30 days'`
)

// Rotation is a new signing secret, which is sealed. The previous one still signs for the overlap.
type Rotation struct {
	// RequestID identifies repeats. It may be nil.
	RequestID *string
	Secret    []byte
	Overlap   time.Duration
}

// Signing is the sealed signing secret of a key.
type Signing struct {
	Secret []byte
	// PreviousUntil is when the previous secret stops signing, or nil.
	PreviousUntil *time.Time
}

// RotateWebhookSecret replaces the signing secret of a key that is not revoked. A repeat of the last rotation changes nothing for
// 30 days, the longest overlap.
func (s *Store) RotateWebhookSecret(
	ctx context.Context, ref KeyRef, by Authorization, r Rotation,
) (out Signing, version int64, err error) {
	err = s.inTx(ctx, func(tx pgx.Tx) error {
		out, version, err = rotate(ctx, tx, ref, by, r)
		return err
	})
	return out, version, translate(err)
}

// OwnRotation is the response to a key that rotates its own secret.
type OwnRotation = *tenantsv1.RotateOwnWebhookSecretResponse

// RotateOwnWebhookSecret is RotateWebhookSecret by the key itself, once per Idempotency-Key. respond makes the response, and what
// is stored of it.
func (s *Store) RotateOwnWebhookSecret(
	ctx context.Context, ref KeyRef, r Rotation, respond func(Signing) (response, stored OwnRotation),
) (response OwnRotation, err error) {
	by := Authorization{
		Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_API_KEY, Id: strconv.Itoa(int(ref.ID))},
		Needs: caller.Permission{APIKey: true},
	}
	response, err = idempotency.RunTx(ctx, s.pool, s.inTx, func(tx pgx.Tx) (response, stored OwnRotation, err error) {
		signing, _, err := rotate(ctx, tx, ref, by, r)
		if err != nil {
			return nil, nil, err
		}
		response, stored = respond(signing)
		return response, stored, nil
	})
	return response, translate(err)
}

func rotate(ctx context.Context, tx pgx.Tx, ref KeyRef, by Authorization, r Rotation) (out Signing, version int64, err error) {
	a := &auditedChange{by: by, action: tenantsv1.TenantAction_TENANT_ACTION_KEY_ROTATE_WEBHOOK_SECRET}
	version, err = changeKeyIn(ctx, tx, ref, a, func(tx pgx.Tx) (bool, error) {
		err := tx.QueryRow(ctx, selectRotation, ref.ID, r.RequestID).Scan(&out.Secret, &out.PreviousUntil)
		if !errors.Is(err, pgx.ErrNoRows) {
			return false, err
		}
		err = tx.QueryRow(ctx, updateSigning, ref.ID, r.Secret, r.Overlap, r.RequestID).Scan(&out.Secret, &out.PreviousUntil)
		if errors.Is(err, pgx.ErrNoRows) {
			err = ErrNotFound
		}
		return true, err
	})
	return out, version, err
}

// SealedColumns are the columns that hold sealed values.
func SealedColumns() []seal.Table {
	return []seal.Table{
		{Name: "api_keys", IntegerID: true, Columns: []seal.Column{
			{Name: "webhook_secret", AssociatedData: rules.SecretData[string]},
			{Name: "previous_webhook_secret", AssociatedData: rules.SecretData[string]},
		}},
		{Name: "person_requests", Columns: []seal.Column{{Name: "recipient_sealed", AssociatedData: RecipientData}}},
	}
}
