package server_test

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

type (
	rotateOwn  = tenantsv1.RotateOwnWebhookSecretRequest
	rotatedOwn = tenantsv1.RotateOwnWebhookSecretResponse
)

// ownKey is a key of a tenant that rotates its own secret.
type ownKey struct {
	*fixture
	tenant, secret string
	id             int32
}

func setupOwnKey(t *testing.T) *ownKey {
	t.Helper()
	f := setupWithoutTwins(t)
	o := &ownKey{fixture: f, tenant: f.tenant()}
	made := f.createKey(o.tenant)
	o.secret, o.id = made.GetWebhookSecret(), made.GetKey().GetId()
	return o
}

// keyed is a request of the key.
func (o *ownKey) keyed(r caller.Request) context.Context {
	ctx, err := caller.Outgoing(o.t.Context(), caller.Principal{TenantID: o.tenant, KeyID: o.id}, r)
	require.NoError(o.t, err)
	return ctx
}

func (o *ownKey) rotate(idempotencyKey string, overlap *int32) (*rotatedOwn, error) {
	ctx := o.keyed(caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte("f")})
	return o.public.RotateOwnWebhookSecret(ctx, &rotateOwn{OverlapSeconds: overlap})
}

func (o *ownKey) rotated(idempotencyKey string, overlap *int32) *rotatedOwn {
	o.t.Helper()
	resp, err := o.rotate(idempotencyKey, overlap)
	require.NoError(o.t, err)
	return resp
}

func (o *ownKey) audit() []*tenantsv1.KeyAuditEntry {
	o.t.Helper()
	return call(o.t, o.ops.ListKeyAudit, &tenantsv1.ListKeyAuditRequest{Actor: staff, TenantId: o.tenant, KeyId: &o.id}).GetEntries()
}

func TestAKeyRotatesItsOwnSecret(t *testing.T) {
	t.Parallel()
	o := setupOwnKey(t)
	other := o.createKey(o.tenant)
	before := o.settings(o.tenant).GetVersion()
	resp := o.rotated("k1", new(int32(3600)))
	o.requireSigning(o.id, resp.GetSecret(), o.secret)
	o.requireSigning(other.GetKey().GetId(), other.GetWebhookSecret(), "")

	t.Run("the edges learn of it", func(t *testing.T) {
		published, err := o.redis.Get(t.Context(), tenants.VersionKey(o.tenant)).Int64()
		require.NoError(t, err)
		require.Equal(t, before+1, published)
	})
	t.Run("the audit names the key", func(t *testing.T) {
		entry := o.audit()[0]
		require.Equal(t, tenantsv1.KeyAction_KEY_ACTION_ROTATE_WEBHOOK_SECRET, entry.GetAction())
		require.Equal(t, commonv1.ActorKind_ACTOR_KIND_API_KEY, entry.GetActor().GetKind())
		require.Equal(t, strconv.Itoa(int(o.id)), entry.GetActor().GetId())
	})
	t.Run("no call of the operations plane may name a key as its actor", func(t *testing.T) {
		invalid(t, o.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{
			Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_API_KEY, Id: "1"}, TenantId: o.tenant, KeyId: o.id,
		}, "actor.kind invalid")
	})
}

func TestTheNewSecretIsStoredOnlySealed(t *testing.T) {
	t.Parallel()
	o := setupOwnKey(t)
	secret := o.rotated("k", nil).GetSecret()
	for _, table := range []string{"idempotency_answers", "tenant_audit", "api_keys", "tenants"} {
		var rows, found int
		require.NoError(t, o.pool.QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (
   WHERE row_to_json(t)::text LIKE '%' || $1 || '%'
   OR row_to_json(t)::text LIKE '%' || encode($1::text::bytea, 'hex') || '%') FROM `+table+` t`, secret).Scan(&rows, &found))
		require.Zero(t, found, table)
		require.Positive(t, rows, table)
	}
}

func TestARotationByAKeyThatIsRefused(t *testing.T) {
	t.Parallel()
	o := setupOwnKey(t)
	_, err := o.rotate("k", new(int32(-1)))
	require.True(t, problem.Is(err, problem.InvalidRequest), "%v", err)
	o.rotated("k", nil)
	require.Len(t, o.audit(), 2, "the key is free after a refusal")

	stranger := *o
	stranger.tenant = o.fixture.tenant()
	_, err = stranger.rotate("k2", nil)
	require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	call(t, o.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: o.tenant, KeyId: o.id})
	_, err = o.rotate("k3", nil)
	require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	require.Len(t, o.audit(), 3)
}

func TestConcurrentRotationsOfAKey(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{"with one Idempotency-Key": {"k", "k", "k", "k"}, "with several": {"k", "l", "m"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := setupOwnKey(t)
			var secrets atomic.Int32
			var calls errgroup.Group
			for _, key := range keys {
				calls.Go(func() error {
					resp, err := o.rotate(key, nil)
					if problem.Is(err, problem.IdempotencyInProgress) {
						return nil
					}
					if resp.GetSecret() != "" {
						secrets.Add(1)
					}
					return err
				})
			}
			require.NoError(t, calls.Wait())
			made := len(o.audit()) - 1
			require.EqualValues(t, made, secrets.Load(), "each secret was returned once")
			if keys[0] == keys[1] {
				require.Equal(t, 1, made)
			} else {
				require.Equal(t, len(keys), made)
			}
		})
	}
}
