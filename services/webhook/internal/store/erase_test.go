package store

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestErasedEventsAreSentWithoutThePerson(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	subject, other := uuid.NewString(), uuid.NewString()
	const body, erased = `{"id":"e","data":{"externalRecipientId":"marked"}}`, `{"id":"e","data":{"externalRecipientId":"[erased]"}}`
	stored := map[string]string{} // By event.
	for _, c := range []struct{ tenant, subject, want string }{
		{tenantA, subject, erased}, {tenantA, subject, erased}, {tenantA, other, body}, {tenantB, subject, body},
	} {
		e := anEvent(newID(), 1)
		e.TenantID, e.SubjectID, e.Body = c.tenant, c.subject, []byte(body)
		_, err := f.FanOut(t.Context(), 0, []Event{e})
		require.NoError(t, err)
		stored[e.ID] = c.want
	}
	erase := func() int {
		erased, err := f.EraseEvents(t.Context(), tenantA, []string{subject, uuid.NewString()})
		require.NoError(t, err)
		return erased.Sending
	}
	claimed := f.claim(t, noon, 100, 100)
	require.Len(t, claimed, 4)
	require.Equal(t, 2, erase(), "they are being sent as they were")
	for _, d := range claimed {
		attempt := Attempt{StartedAt: f.now, Outcome: rules.Answered(200), ResponseBody: []byte("echo: marked")}
		_, err := f.Record(t.Context(), []Result{{Delivery: d, Verdict: delivered, Attempt: attempt}})
		require.NoError(t, err)
	}
	require.Zero(t, erase())
	require.Zero(t, erase(), "a repeated call is harmless")
	for _, d := range claimed {
		_, sent, attempts, err := f.Get(t.Context(), d.Endpoint, d.EventID)
		require.NoError(t, err)
		require.Equal(t, stored[d.EventID], string(sent))
		response := "echo: marked"
		if stored[d.EventID] == erased {
			response = "[erased]"
		}
		require.Equal(t, response, string(attempts[0].ResponseBody))
		require.NoError(t, f.Resend(t.Context(), d.Endpoint, d.EventID))
	}
	for _, d := range f.claim(t, noon.Add(time.Minute), 100, 100) {
		require.Equal(t, stored[d.EventID], string(d.Body))
	}
}

func TestTheLeaseOfACrashedSenderHoldsUpAnErasureUntilItEnds(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	e := anEvent(newID(), 1)
	e.Body = []byte(`{"data":{}}`)
	_, err := f.FanOut(t.Context(), 0, []Event{e})
	require.NoError(t, err)
	f.claim(t, noon, 1, 1)
	for at, want := range map[time.Duration]int{29 * time.Second: 1, 30 * time.Second: 0} {
		f.now = noon.Add(at)
		erased, err := f.EraseEvents(t.Context(), tenantA, []string{aSubject})
		require.NoError(t, err)
		require.Equal(t, want, erased.Sending)
	}
}

func TestAnErasureWaitsForAResendThatHasReadTheResponses(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	e := anEvent(newID(), 1)
	_, err := f.FanOut(t.Context(), 0, []Event{e})
	require.NoError(t, err)
	resend := f.NewResend(Endpoint{TenantID: tenantA, KeyID: 1}, Visibility{}, e.ID)
	erased := make(chan error, 1)
	err = postgres.ReadThenWrite(t.Context(), f.pool, resend.QueueRead, func() (func(b *pgx.Batch), error) {
		go func() {
			_, err := f.EraseEvents(t.Context(), tenantA, []string{aSubject})
			erased <- err
		}()
		require.Eventually(t, func() bool {
			var waiting bool
			require.NoError(t, f.pool.QueryRow(t.Context(),
				"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')").Scan(&waiting))
			return waiting
		}, 30*time.Second, 5*time.Millisecond)
		return resend.QueueUpdate, nil
	})
	require.NoError(t, err)
	require.NoError(t, <-erased)
}
