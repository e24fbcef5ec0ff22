package idempotency_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// ring is the same request through a gateway with a ring of keys. The first key makes the first fingerprint.
func ring(ctx context.Context, fingerprints ...string) context.Context {
	r := caller.RequestFrom(request(ctx, 1, "k", fingerprints[0]))
	r.OtherFingerprints = others(fingerprints)
	return caller.WithRequest(request(ctx, 1, "k", fingerprints[0]), r)
}

func others(fingerprints []string) (raw [][]byte) {
	for _, f := range fingerprints[1:] {
		raw = append(raw, []byte(f))
	}
	return raw
}

func (r register) claimRing(ctx context.Context, fingerprints ...string) error {
	_, err := r.ClaimKey(ctx, &commonv1.ClaimKeyRequest{
		KeyId: 1, IdempotencyKey: "k", Owner: otherService, Fingerprint: []byte(fingerprints[0]), OtherFingerprints: others(fingerprints),
	})
	return err
}

func (r register) releaseRing(t *testing.T, fingerprints ...string) {
	t.Helper()
	_, err := r.ReleaseKey(t.Context(), &commonv1.ReleaseKeyRequest{
		KeyId: 1, IdempotencyKey: "k", Fingerprint: []byte(fingerprints[0]), OtherFingerprints: others(fingerprints),
	})
	require.NoError(t, err)
}

// storedFingerprint is empty if the key is free.
func storedFingerprint(t *testing.T, pool *pgxpool.Pool) (fingerprint string) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(),
		"SELECT coalesce(max(convert_from(fingerprint, 'UTF8')), '') FROM idempotency_answers").Scan(&fingerprint))
	return fingerprint
}

func TestARepetitionWithAnyKeyOfTheRingGetsTheFirstAnswer(t *testing.T) {
	t.Parallel()
	for name, run := range counting {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := setup(t)
			_, err := run(ring(t.Context(), "old"), pool, accept)
			require.NoError(t, err)
			// The key is added, becomes the first, and the old one is removed. Gateways of two steps run at once.
			for _, fingerprints := range [][]string{{"old", "new"}, {"new", "old"}, {"newer", "new", "old"}} {
				got, err := run(ring(t.Context(), fingerprints...), pool, accept)
				require.NoError(t, err, fingerprints)
				require.Zero(t, got.GetResponseStatus())
			}
			for _, fingerprints := range [][]string{{"new"}, {"other new", "other old"}, {"", ""}} {
				_, err := run(ring(t.Context(), fingerprints...), pool, accept)
				require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", fingerprints)
			}
			require.Equal(t, 1, counted(t, pool))
			require.Equal(t, "old", storedFingerprint(t, pool))
		})
	}
}

func TestTheFirstKeyOfTheRingMakesTheStoredFingerprint(t *testing.T) {
	t.Parallel()
	for name, run := range counting {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pool := setup(t)
			_, err := run(ring(t.Context(), "new", "old"), pool, accept)
			require.NoError(t, err)
			require.Equal(t, "new", storedFingerprint(t, pool))
		})
	}
}

func TestAClaimMayBeRepeatedAndReleasedWithAnyKeyOfTheRing(t *testing.T) {
	t.Parallel()
	pool, r := setupRegister(t)
	require.NoError(t, r.claimRing(t.Context(), "old"))
	require.NoError(t, r.claimRing(t.Context(), "old", "new"))
	require.Equal(t, "old", storedFingerprint(t, pool))
	require.NoError(t, r.claimRing(t.Context(), "new", "old"))
	require.Equal(t, "new", storedFingerprint(t, pool), "the row is kept for the whole retention again, without the old key")
	require.True(t, problem.Is(r.claimRing(t.Context(), "other new", "other old"), problem.IdempotencyKeyReused))
	require.True(t, problem.Is(r.claimRing(t.Context(), "old"), problem.IdempotencyKeyReused))

	r.releaseRing(t, "other new", "other old")
	r.releaseRing(t, "old", "new")
	r.releaseRing(t, "new", "old")
	require.Equal(t, "new", storedFingerprint(t, pool), "one claim is left")
	r.releaseRing(t, "newer", "new")
	require.Empty(t, storedFingerprint(t, pool))
}
