package server_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// A key that has leaked must leave the ring, and the webhooks of all keys still need their secrets.
func TestSigningSecretsMoveToTheFirstSealKey(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	secrets := map[int32]string{}
	for _, tenant := range []string{f.tenant(), f.tenant()} {
		for range 6 { // So ids have one and two digits.
			made := f.key(tenant)
			secrets[made.GetKey().GetId()] = made.GetWebhookSecret()
		}
	}
	database := postgres.Config{URL: f.pool.Config().ConnString()}
	next, both := keyOf("k2", "b"), keyOf("k2", "b")+","+keyOf("k1", "a")
	require.ErrorIs(t, seal.ReEncrypt(t.Context(), database, next, store.SealedColumns(), io.Discard), seal.ErrBroken)
	require.NoError(t, seal.ReEncrypt(t.Context(), database, both, store.SealedColumns(), io.Discard))

	rotated := serve(t, f.pool, ringOf(t, "k2", "b"))
	for id, secret := range secrets {
		endpoint := rotated.endpoint(id)
		require.Equal(t, tenantsv1.EndpointState_ENDPOINT_STATE_ACTIVE, endpoint.GetState())
		require.Equal(t, secret, endpoint.GetSecret())
	}
}

// The fingerprint of a person cannot be made again under another key, because the person is not stored.
func TestARepeatedErasureIsNotTakenForAnotherPersonsAfterItsSealKeyIsRemoved(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	req := eraseRecipient(f.tenant())
	f.erase(req)
	both, err := seal.ParseRing(keyOf("k2", "b") + "," + keyOf("k1", "a"))
	require.NoError(t, err)
	serve(t, f.pool, both).erase(req)
	without := serve(t, f.pool, ringOf(t, "k2", "b"))
	_, err = without.privacy.ErasePerson(t.Context(), req)
	require.ErrorContains(t, err, "Use another requestId.")
	req.RequestId = newID()
	without.erase(req)
}
