package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestAnErasureReachesTheStoredAnswersOfResends(t *testing.T) {
	t.Parallel()
	o := setupOwn(t)
	erased, kept := o.add(key), o.add(key)
	o.respond(failed, rules.Answered(500), []byte("echo: Ann"))
	response := func(idempotencyKey, event string) string {
		got, err := o.resend(idempotencyKey, rules.DeliveryID(key, event))
		require.NoError(t, err)
		return got.GetAttempts()[0].GetResponseBody()
	}
	erase := func() (sending int) {
		var subject string
		require.NoError(t, o.pool.QueryRow(t.Context(),
			"SELECT subject_id FROM events WHERE tenant_id = $1 AND event_id = $2", tenant, erased).Scan(&subject))
		sending, err := o.server.EraseEvents(t.Context(), tenant, []string{subject})
		require.NoError(t, err)
		return sending
	}
	require.Equal(t, "echo: Ann", response("k1", erased))
	require.Equal(t, "echo: Ann", response("k2", kept))
	leased := o.lease()
	require.Equal(t, 1, erase())
	o.record(leased, delivered, rules.Answered(200), nil)
	require.Zero(t, erase())
	require.Equal(t, "[erased]", response("k1", erased))
	require.Equal(t, "echo: Ann", response("k2", kept))
}
