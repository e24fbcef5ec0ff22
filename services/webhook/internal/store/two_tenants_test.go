package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// sameEvent stores an event with one id for two tenants, each with deliveries to its keys, and returns the first one's.
func (f *fixture) sameEvent(t *testing.T, keysA, keysB []int32) Event {
	t.Helper()
	a := anEvent(newID(), keysA...)
	b := a
	b.TenantID, b.KeyIDs = tenantB, keysB
	f.now = noon
	_, err := f.FanOut(t.Context(), 0, []Event{a, b})
	require.NoError(t, err)
	return a
}

// One claim has one token for the rows of all tenants.
func TestAResultIsThatOfItsTenant(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.sameEvent(t, []int32{1}, []int32{1})
	got := f.claim(t, noon, 2, 1)
	require.Len(t, got, 2)
	require.Equal(t, got[0].Token, got[1].Token)
	require.NoError(t, f.Release(t.Context(), got[:1], time.Hour))
	require.NoError(t, f.record(t, got[1], delivered, 200), "its lease was not released")

	f.sameEvent(t, []int32{1}, []int32{1})
	got = f.claim(t, noon, 2, 1)
	require.Len(t, got, 2)
	require.NoError(t, f.record(t, got[0], delivered, 200))
	require.NoError(t, f.record(t, got[1], delivered, 200), "its result was not recorded before")
}

func TestAnEventOfAnotherTenantIsMissing(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	a := f.sameEvent(t, []int32{1}, []int32{2})
	a.KeyIDs = []int32{1, 2}
	missing, err := f.Missing(t.Context(), []Event{a}, 2)
	require.NoError(t, err)
	require.Len(t, missing, 1)
	require.Equal(t, []int32{2}, missing[0].KeyIDs)
}
