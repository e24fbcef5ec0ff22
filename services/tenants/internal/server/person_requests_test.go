package server_test

import (
	"io"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// Callers choose the ids of erasures, so two tenants may choose the same one.
func TestAnErasureLeavesTheOneOfAnotherTenantWithItsIDAlone(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	s := store.New(f.pool)
	id, other, mine := uuid.NewString(), f.tenant(), f.tenant()
	read := func(tenantID string) store.PersonRequest {
		t.Helper()
		r, err := s.PersonRequest(t.Context(), tenantID, id)
		require.NoError(t, err)
		return r
	}
	for _, tenantID := range []string{other, mine} {
		by := store.Authorization{Actor: staff, Needs: caller.Permission{Operator: true}}
		require.NoError(t, s.RecordPersonRequest(t.Context(), by, store.PersonRequest{
			TenantID: tenantID, ID: id, Action: store.ErasePerson, SubjectKind: "ORDER", SubjectMAC: []byte(tenantID),
		}, time.Hour))
		require.Equal(t, []byte(tenantID), read(tenantID).SubjectMAC)
	}
	before := read(other)
	require.NoError(t, s.LinksErased(t.Context(), mine, id, []string{uuid.NewString()}))
	require.Equal(t, before, read(other))
	require.NoError(t, s.LinksErased(t.Context(), other, id, nil))
	before = read(other)
	require.NoError(t, s.OrdersErased(t.Context(), mine, id))
	require.Equal(t, before, read(other))
	require.NoError(t, s.OrdersErased(t.Context(), other, id))
	before = read(other)
	require.NoError(t, s.CompleteErasure(t.Context(), mine, id, nil))
	require.Equal(t, before, read(other))
	require.NotNil(t, read(mine).CompletedAt)
}

// The fingerprint of a person cannot be made again under another key, because the person is not stored.
func TestARepeatedErasureIsNotTakenForAnotherPersonsAfterItsSealKeyIsRemoved(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
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

func TestAPendingErasureKeepsItsRecipientUnderTheNextSealKey(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.links.failBefore = problem.Unavailable()
	f.erase(eraseRecipient(f.tenant()))
	database := postgres.Config{URL: f.pool.Config().ConnString()}
	for _, table := range store.SealedColumns() {
		require.NoError(t, seal.ReEncrypt(t.Context(), database, keyOf("k2", "b")+","+keyOf("k1", "a"), table, io.Discard))
	}
	f.makeDue()
	next := serve(t, f.pool, ringOf(t, "k2", "b"))
	require.NoError(t, next.coordinator.ContinuePending(t.Context()))
	require.Equal(t, player, next.links.recipient)
}
