package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/seal"
)

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
