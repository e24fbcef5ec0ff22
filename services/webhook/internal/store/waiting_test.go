package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
	"github.com/partnergifting/platform/services/webhook/internal/store"
)

func TestWhatWaitsIsTold(t *testing.T) {
	s := setup(t)
	waiting := func() store.Waiting {
		t.Helper()
		w, err := s.at(now()).Waiting(t.Context())
		require.NoError(t, err)
		return w
	}
	require.Zero(t, waiting())

	add(t, s, tenantA, now().Add(-time.Hour), 1)
	add(t, s, tenantA, now().Add(-2*time.Hour), 2)
	add(t, s, tenantB, now().Add(-time.Minute), 3)
	require.Equal(t, store.Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: 2 * time.Hour}, waiting())

	t.Run("one that is tried again later waits but is not due", func(t *testing.T) {
		taken := claim(t, s, now(), 1, 1)
		require.Equal(t, int32(2), taken[0].KeyID)
		require.Equal(t, store.Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: time.Hour}, waiting(), "while it is sent")
		retry := rules.Verdict{State: rules.Pending, Counted: true, Wait: time.Hour}
		require.NoError(t, record(t, s.Store, taken[0], retry, store.Attempt{Outcome: rules.Answered(500)}))
		require.Equal(t, store.Waiting{Deliveries: 3, Oldest: 2 * time.Hour, Due: time.Hour}, waiting())
	})
	t.Run("nor is one of an endpoint that is being sent to", func(t *testing.T) {
		add(t, s, tenantA, now().Add(-time.Hour), 1)
		taken := claim(t, s, now(), 1, 1)
		require.Equal(t, int32(1), taken[0].KeyID)
		require.Equal(t, store.Waiting{Deliveries: 4, Oldest: 2 * time.Hour, Due: time.Minute}, waiting())
	})
	t.Run("nor one of an endpoint that is paused", func(t *testing.T) {
		require.NoError(t, s.Pause(t.Context(), []store.Endpoint{{TenantID: tenantB, KeyID: 3}}, time.Minute))
		require.Equal(t, store.Waiting{Deliveries: 4, Oldest: 2 * time.Hour}, waiting())
	})
}

func TestAClaimGivesTheTraceOfItsEventAndWhetherItWasSentBefore(t *testing.T) {
	s := setup(t)
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	id := "0190eeee-0000-7000-8000-000000000001"
	require.NoError(t, s.at(now()).FanOut(t.Context(), []store.Event{
		{TenantID: tenantA, ID: id, Type: "order.created", Body: []byte("{}"), KeyIDs: []int32{1}, TraceParent: parent},
	}, nil))
	taken := claim(t, s, now(), 1, 1)
	require.Equal(t, parent, taken[0].TraceParent)
	require.False(t, taken[0].Resent)
	failed := rules.Verdict{State: rules.Failed, Counted: true}
	require.NoError(t, record(t, s.Store, taken[0], failed, store.Attempt{Outcome: rules.Answered(500)}))
	require.NoError(t, s.Resend(t.Context(), store.Endpoint{TenantID: tenantA, KeyID: 1}, id))
	require.True(t, claim(t, s, now(), 1, 1)[0].Resent)
}
