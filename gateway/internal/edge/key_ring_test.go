package edge_test

import (
	"bytes"
	"encoding/base64"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/problem"
)

// withRing starts a gateway whose keys are 32 of each byte.
func withRing(t *testing.T, keys string) *gatewaytest.Fixture {
	t.Helper()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) {
		cfg.FingerprintKey = nil
		for _, key := range []byte(keys) {
			cfg.FingerprintKey = append(cfg.FingerprintKey, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{key}, 32)))
		}
	}})
	f.Cursor = cursor
	return f
}

func TestARequestCarriesItsFingerprintsByAllKeys(t *testing.T) {
	t.Parallel()
	before, after := withRing(t, "o"), withRing(t, "no")
	for _, path := range []string{"/orders", "/webhooks:test", "/orders?a=%zz"} {
		for _, f := range []*gatewaytest.Fixture{before, after} {
			f.Do("POST", path, "{}", "Idempotency-Key", "k")
		}
		require.Empty(t, before.Seen.OtherFingerprints)
		require.Equal(t, [][]byte{before.Seen.Fingerprint}, after.Seen.OtherFingerprints, path)
		require.NotEqual(t, before.Seen.Fingerprint, after.Seen.Fingerprint, path)
	}
	t.Run("also to claim the key and to release it", func(t *testing.T) {
		after.Failure = problem.RecordNotFound()
		for _, f := range []*gatewaytest.Fixture{before, after} {
			f.Do("POST", "/webhooks:test", "{}", "Idempotency-Key", "k")
		}
		require.Equal(t, [][]byte{before.Claim.GetFingerprint()}, after.Claim.GetOtherFingerprints())
		require.Equal(t, after.Claim.GetFingerprint(), after.Released.GetFingerprint())
		require.Equal(t, after.Claim.GetOtherFingerprints(), after.Released.GetOtherFingerprints())
		require.NotEmpty(t, after.Claim.GetClaimId())
		require.NotEqual(t, before.Claim.GetClaimId(), after.Claim.GetClaimId(), "each call makes a claim of its own")
		require.Equal(t, after.Claim.GetClaimId(), after.Released.GetClaimId())
	})
}

func TestACursorIsSignedWithTheFirstKeyAndAcceptedWithAny(t *testing.T) {
	t.Parallel()
	steps := []*gatewaytest.Fixture{withRing(t, "o"), withRing(t, "on"), withRing(t, "no"), withRing(t, "n")}
	follow := func(from, to int) int { return steps[to].Do("GET", "/orders?after="+next(t, steps[from]), "").Status }
	require.Equal(t, next(t, steps[0]), next(t, steps[1]))
	require.Equal(t, next(t, steps[2]), next(t, steps[3]))
	for i := 1; i < len(steps); i++ {
		require.Equal(t, http.StatusOK, follow(i-1, i), "step %d", i)
		require.Equal(t, http.StatusOK, follow(i, i-1), "step %d", i)
	}
	require.Equal(t, http.StatusBadRequest, follow(0, 3))
	require.Equal(t, http.StatusBadRequest, follow(3, 0))
}
