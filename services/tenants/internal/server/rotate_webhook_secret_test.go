package server_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// rotate rotates the secret of a key.
func (f *fixture) rotate(tenant string, keyID int32, overlap time.Duration) *tenantsv1.RotateWebhookSecretResponse {
	f.t.Helper()
	return call(f.t, f.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{
		Actor: staff, TenantId: tenant, KeyId: keyID, Overlap: durationpb.New(overlap),
	})
}

// requireSigning requires what signs for a key: the secret and the one of before, or none.
func (f *fixture) requireSigning(keyID int32, secret, previous string) {
	f.t.Helper()
	e := f.endpoint(keyID)
	require.Equal(f.t, secret, e.GetSecret())
	require.Equal(f.t, previous, e.GetPreviousSecret())
	require.Equal(f.t, previous != "", e.GetPreviousSignsFor().AsDuration() > 0)
}

func TestTheSecretOfBeforeAlsoSignsForTheOverlap(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant := f.tenant()
	made := f.createKey(tenant)
	id := made.GetKey().GetId()
	f.requireSigning(id, made.GetWebhookSecret(), "")

	first := f.rotate(tenant, id, 48*time.Hour)
	f.requireSigning(id, first.GetWebhookSecret(), made.GetWebhookSecret())
	require.WithinDuration(t, time.Now().Add(48*time.Hour), first.GetPreviousSignsUntil().AsTime(), time.Minute)
	second := f.rotate(tenant, id, time.Hour)
	f.requireSigning(id, second.GetWebhookSecret(), first.GetWebhookSecret())
	require.WithinDuration(t, time.Now().Add(time.Hour), second.GetPreviousSignsUntil().AsTime(), time.Minute)
	require.InDelta(t, time.Hour, f.endpoint(id).GetPreviousSignsFor().AsDuration(), float64(time.Minute))

	pgtest.Exec(t, f.pool, `UPDATE api_keys SET previous_signs_until = now()`)
	f.requireSigning(id, second.GetWebhookSecret(), "")
}

// The response of a rotation may be lost. If the repeat made another secret, that of the receiver would stop.
func TestARepeatedRotationReturnsTheSameSecret(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant := f.tenant()
	made := f.createKey(tenant)
	id := made.GetKey().GetId()
	req := &tenantsv1.RotateWebhookSecretRequest{
		Actor: staff, TenantId: tenant, KeyId: id, RequestId: new(newID()), Overlap: durationpb.New(time.Hour),
	}
	first := call(t, f.ops.RotateWebhookSecret, req)
	require.NotEqual(t, made.GetWebhookSecret(), first.GetWebhookSecret())
	repeat := proto.CloneOf(req)
	repeat.RequestId = new(strings.ToUpper(req.GetRequestId()))
	require.True(t, proto.Equal(first, call(t, f.ops.RotateWebhookSecret, repeat)))
	f.requireSigning(id, first.GetWebhookSecret(), made.GetWebhookSecret())
	audit := call(t, f.ops.ListKeyAudit, &tenantsv1.ListKeyAuditRequest{Actor: staff, TenantId: tenant, KeyId: &id})
	require.Len(t, audit.GetEntries(), 2, "the key was made and rotated once")

	t.Run("but not after another one", func(t *testing.T) {
		other := proto.CloneOf(req)
		other.RequestId = new(newID())
		second := call(t, f.ops.RotateWebhookSecret, other)
		f.requireSigning(id, second.GetWebhookSecret(), first.GetWebhookSecret())
		third := f.rotate(tenant, id, time.Hour)
		f.requireSigning(id, third.GetWebhookSecret(), second.GetWebhookSecret())
		again := call(t, f.ops.RotateWebhookSecret, other)
		f.requireSigning(id, again.GetWebhookSecret(), third.GetWebhookSecret())
		require.True(t, proto.Equal(again, call(t, f.ops.RotateWebhookSecret, other)))
	})
	t.Run("without an overlap too", func(t *testing.T) {
		leaked := proto.CloneOf(req)
		leaked.RequestId, leaked.Overlap = new(newID()), nil
		last := call(t, f.ops.RotateWebhookSecret, leaked)
		require.True(t, proto.Equal(last, call(t, f.ops.RotateWebhookSecret, leaked)))
		require.Nil(t, last.GetPreviousSignsUntil())
		f.requireSigning(id, last.GetWebhookSecret(), "")
		require.Zero(t, pgtest.Value[int](t, f.pool, `SELECT count(previous_webhook_secret) FROM api_keys`))
	})
	t.Run("nor after 30 days", func(t *testing.T) {
		last := call(t, f.ops.RotateWebhookSecret, req)
		pgtest.Exec(t, f.pool, `UPDATE api_keys SET rotated_at = now() - interval '30 days'`)
		require.NotEqual(t, last.GetWebhookSecret(), call(t, f.ops.RotateWebhookSecret, req).GetWebhookSecret())
	})
	t.Run("nor with an invalid id", func(t *testing.T) {
		invalid(t, f.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{
			Actor: staff, TenantId: tenant, KeyId: id, RequestId: new("1"),
		}, "requestId invalid")
	})
	t.Run("nor a key that was revoked since", func(t *testing.T) {
		call(t, f.ops.RevokeKey, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: tenant, KeyId: id})
		requireRefused(t, problem.NotFound, f.ops.RotateWebhookSecret, req)
	})
}

// Of two repeats at once, one makes the secret and the other one returns it.
func TestRepeatsAtOnceMakeOneSecret(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant := f.tenant()
	req := &tenantsv1.RotateWebhookSecretRequest{
		Actor: staff, TenantId: tenant, KeyId: f.createKey(tenant).GetKey().GetId(), RequestId: new(newID()),
	}
	secrets := make([]string, 4)
	var calls errgroup.Group
	for i := range secrets {
		calls.Go(func() error {
			resp, err := f.ops.RotateWebhookSecret(t.Context(), req)
			secrets[i] = resp.GetWebhookSecret()
			return err
		})
	}
	require.NoError(t, calls.Wait())
	require.Len(t, slices.Compact(secrets), 1)
}

func TestAnOverlapIsFrom0To30Days(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant := f.tenant()
	id := f.createKey(tenant).GetKey().GetId()
	for _, overlap := range []*durationpb.Duration{
		durationpb.New(-time.Second), durationpb.New(30*24*time.Hour + time.Second), {Seconds: 1, Nanos: -1},
	} {
		invalid(t, f.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{
			Actor: staff, TenantId: tenant, KeyId: id, Overlap: overlap,
		}, "overlap invalid")
	}
	f.rotate(tenant, id, 30*24*time.Hour)
	requireRefused(t, problem.NotFound, f.ops.RotateWebhookSecret, &tenantsv1.RotateWebhookSecretRequest{
		Actor: staff, TenantId: tenant, KeyId: id + 1000,
	})
}

func TestSecretsThatNoLongerSignAreDeleted(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant := f.tenant()
	over, signing := f.createKey(tenant).GetKey().GetId(), f.createKey(tenant).GetKey().GetId()
	f.rotate(tenant, over, time.Hour)
	f.rotate(tenant, signing, time.Hour)
	pgtest.Exec(t, f.pool, `UPDATE api_keys SET previous_signs_until = now() - interval '1 minute' WHERE id = $1`, over)
	n, err := store.New(f.pool).Delete(t.Context(), store.OldSigning, time.Hour, 10)
	require.NoError(t, err)
	require.Zero(t, n, "the clock may have jumped ahead")
	n, err = store.New(f.pool).Delete(t.Context(), store.OldSigning, 0, 10)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.Equal(t, signing, pgtest.Value[int32](t, f.pool, `SELECT id FROM api_keys WHERE previous_webhook_secret IS NOT NULL`))
}

func TestASecretOfBeforeThatDoesNotOpenStopsNoDelivery(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	tenant := f.tenant()
	id := f.createKey(tenant).GetKey().GetId()
	rotated := f.rotate(tenant, id, time.Hour)
	pgtest.Exec(t, f.pool, `UPDATE api_keys SET previous_webhook_secret = 'broken'`)
	f.requireSigning(id, rotated.GetWebhookSecret(), "")
}
