package store

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestFinishedDeliveriesAreDeletedAfterTheirRetention(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1, 2)
	f.addEvent(t, tenantB, noon, 3)
	f.deliverDue(t, noon)
	f.addEvent(t, tenantA, noon, 1) // It is never sent.

	f.now = noon.Add(retention)
	require.Zero(t, f.deleteFinished(t, 100), "kept for the whole retention")
	f.now = noon.Add(retention + time.Microsecond)
	var batches []int
	require.NoError(t, daemon.InBatches(t.Context(), 2, func(_ context.Context, limit int) (int, error) {
		batches = append(batches, f.deleteFinished(t, limit))
		return batches[len(batches)-1], nil
	}))
	require.Equal(t, []int{2, 1}, batches)
	require.Equal(t, 1, f.count(t, "deliveries"), "the pending one stays")
	require.Equal(t, 1, f.count(t, "events"))
	require.Zero(t, f.count(t, "attempts"))
}

func TestAnEventStaysWhileADeliveryNeedsIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1, 2)
	pgtest.Exec(t, f.pool, `INSERT INTO events (tenant_id, event_id, type, brand_id, subject_id, body, created_at)
SELECT $1, event_id, type, brand_id, subject_id, body, created_at FROM events WHERE tenant_id = $2`, tenantB, tenantA)
	require.NoError(t, f.Pause(t.Context(), []Endpoint{{TenantID: tenantA, KeyID: 2}}, retention))
	f.deliverDue(t, noon)

	f.now = noon.Add(retention + time.Minute)
	require.Equal(t, 1, f.deleteFinished(t, 100))
	require.Equal(t, 2, f.count(t, "events"))
	f.deliverDue(t, noon.Add(retention+time.Minute))
	require.Equal(t, 1, f.count(t, "attempts"), "the paused delivery could still be sent")

	f.now = noon.Add(2*retention + 2*time.Minute)
	require.Equal(t, 1, f.deleteFinished(t, 100))
	require.Equal(t, 1, f.count(t, "events"), "another tenant has an event with the same id")
}

func TestOneInstanceDeletesAtATime(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.addEvent(t, tenantA, noon, 1)
	f.deliverDue(t, noon)
	f.now = noon.Add(2 * retention)
	err := pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), "SELECT pg_advisory_xact_lock($1)", int64(retentionLock))
		require.Zero(t, f.deleteFinished(t, 100), "another instance deletes")
		return err
	})
	require.NoError(t, err)
	require.Equal(t, 1, f.deleteFinished(t, 100))
}

// The transaction resends the delivery, as Resend does, and holds the row until the deletion waits for it.
func TestADeliveryThatIsResentDuringItsDeletionStays(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	id := f.addEvent(t, tenantA, noon, 1)
	f.deliverDue(t, noon)
	f.now = noon.Add(2 * retention)
	deleted := make(chan int, 1)
	require.NoError(t, pgx.BeginFunc(t.Context(), f.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), `UPDATE deliveries
SET state = 'PENDING', attempts = 0, attempts_before = attempts, next_attempt_at = $1, finished_at = NULL`, f.now)
		go func() {
			n, _, _ := f.DeleteFinished(t.Context(), retention, time.Time{}, 100)
			deleted <- n
		}()
		pgtest.AwaitLock(t, f.pool)
		return err
	}))
	require.Zero(t, <-deleted)
	require.Equal(t, 1, f.count(t, "attempts"))
	require.Equal(t, id, f.claim(t, f.now, 1, 1)[0].EventID)
}

func TestDroppingTakesTheRowsOfAnEndpointThatNobodySends(t *testing.T) {
	t.Parallel()
	f := setup(t)
	endpoint := Endpoint{TenantID: tenantA, KeyID: 1}
	for i := range 5 {
		f.addEvent(t, tenantA, noon.Add(time.Duration(i-5)*time.Second), 1, 2)
	}
	f.addEvent(t, tenantA, noon, 1)
	late := f.addEvent(t, tenantA, noon.Add(time.Microsecond), 1)
	f.now = noon
	r := request(1)
	r.Sender, r.Share, r.Endpoints = 1, 1, []ClaimTarget{wanted(1, noon.Add(-time.Hour), 0)}
	r.Endpoints[0].Rows = 1
	require.NoError(t, f.Register(t.Context(), 1))
	claimed, err := f.Claim(t.Context(), r)
	require.NoError(t, err)
	require.Len(t, claimed.Deliveries, 1)

	var since time.Time
	drop := func(limit int) int {
		t.Helper()
		n, last, err := f.Drop(t.Context(), endpoint, noon, since, limit)
		require.NoError(t, err)
		require.False(t, last.Before(since))
		since = last
		return n
	}
	require.Equal(t, 2, drop(2))
	require.Equal(t, noon.Add(-3*time.Second), since.UTC())
	tx, err := f.pool.Begin(t.Context())
	require.NoError(t, err)
	pgtest.Exec(t, tx, "SELECT FROM deliveries WHERE key_id = 1 AND next_attempt_at = $1 FOR UPDATE", noon)
	require.Equal(t, 2, drop(10), "those that are locked are passed over")
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, 1, drop(10))
	require.Zero(t, drop(10))

	const ofKey = " FROM deliveries WHERE tenant_id = $1 AND key_id = $2 AND state = 'PENDING'"
	rows, err := f.pool.Query(t.Context(), "SELECT event_id::text"+ofKey+" ORDER BY event_id", tenantA, 1)
	require.NoError(t, err)
	pending, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{claimed.Deliveries[0].EventID, late}, pending, "the leased one, and one that was stored later")
	require.NoError(t, f.record(t, claimed.Deliveries[0], delivered, 200), "its lease is not lost")
	require.Equal(t, 5, pgtest.Value[int](t, f.pool, "SELECT count(*)"+ofKey, tenantA, 2))
}

func TestASearchReturnsAllPendingEndpointsIfTheyAreWanted(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.addEvent(t, tenantA, noon, 1, 2, 3)
	require.NoError(t, f.record(t, f.claim(t, noon, 1, 1)[0], retryIn1h, 500))
	require.NoError(t, f.Pause(t.Context(), []Endpoint{{tenantA, 2}}, time.Minute))
	found, err := f.Discover(t.Context(), 1, true)
	require.NoError(t, err)
	require.Equal(t, []Due{wanted(3, noon, 0).Due}, utc(found.Due))
	require.Equal(t, []Endpoint{{tenantA, 1}, {tenantA, 2}, {tenantA, 3}}, found.Pending)
	require.Equal(t, noon, found.StartedAt.UTC())
}

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
		pgtest.AwaitLock(t, f.pool)
		return resend.QueueUpdate, nil
	})
	require.NoError(t, err)
	require.NoError(t, <-erased)
}
