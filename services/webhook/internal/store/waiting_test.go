package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWaitingDeliveriesAreCounted(t *testing.T) {
	t.Parallel()
	f := setup(t)
	waiting := func() Waiting {
		t.Helper()
		f.now = noon
		w, err := f.Waiting(t.Context())
		require.NoError(t, err)
		return w
	}
	require.Zero(t, waiting())

	f.add(t, tenantA, noon.Add(-time.Hour), 1)
	f.add(t, tenantA, noon.Add(-2*time.Hour), 2)
	f.add(t, tenantB, noon.Add(-time.Minute), 3)
	require.Equal(t, Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: 2 * time.Hour}, waiting())

	t.Run("one that is tried again later waits but is not due", func(t *testing.T) {
		taken := f.claim(t, noon, 1, 1)
		require.Equal(t, int32(2), taken[0].KeyID)
		require.Equal(t, Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: time.Hour}, waiting(), "while it is sent")
		require.NoError(t, f.record(t, taken[0], retryIn1h, 500))
		require.Equal(t, Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: time.Hour}, waiting())
	})
	t.Run("nor is one of an endpoint that is being sent to", func(t *testing.T) {
		f.add(t, tenantA, noon.Add(-time.Hour), 1)
		taken := f.claim(t, noon, 1, 1)
		require.Equal(t, int32(1), taken[0].KeyID)
		require.Equal(t, Waiting{Deliveries: 4, Oldest: 2 * time.Hour, Due: time.Minute}, waiting())
	})
	t.Run("nor one of an endpoint that is paused", func(t *testing.T) {
		require.NoError(t, f.Pause(t.Context(), []Endpoint{{TenantID: tenantB, KeyID: 3}}, time.Minute))
		require.Equal(t, Waiting{Deliveries: 4, Oldest: 2 * time.Hour}, waiting())
	})
}

func TestAClaimReturnsTheTraceOfItsEventAndWhetherItWasResent(t *testing.T) {
	t.Parallel()
	f := setup(t)
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	id := "0190eeee-0000-7000-8000-000000000001"
	require.NoError(t, f.FanOut(t.Context(), []Event{
		{TenantID: tenantA, ID: id, Type: "order.created", Body: []byte("{}"), KeyIDs: []int32{1}, TraceParent: parent},
	}, nil))
	taken := f.claim(t, noon, 1, 1)
	require.Equal(t, parent, taken[0].TraceParent)
	require.False(t, taken[0].Resent)
	require.NoError(t, f.record(t, taken[0], failed, 500))
	require.NoError(t, f.Resend(t.Context(), Endpoint{TenantID: tenantA, KeyID: 1}, id))
	require.True(t, f.claim(t, noon, 1, 1)[0].Resent)
}
