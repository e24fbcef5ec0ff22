package store

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestErasedEventsSayNothingAboutThePerson(t *testing.T) {
	t.Parallel()
	s := setup(t)
	tenant, other := uuid.NewString(), uuid.NewString()
	const data, erased = `{"externalRecipientId":"marked","id":"x"}`, `{"externalRecipientId":"[erased]","id":"x"}`
	earlier, first, second := changes(tenant, 0, 1), changes(tenant, 1, 3), changes(other, 4, 1)
	for _, c := range slices.Concat(earlier, first, second) {
		c.Data = []byte(data)
	}
	subject := first[0].GetSubjectId()
	earlier[0].SubjectId, first[2].SubjectId, second[0].SubjectId = subject, subject, subject
	appendAt(t, s, today.AddDate(0, 0, -2), batch(0, earlier))
	appendAt(t, s, today, batch(0, append(first, second...)))
	for range 2 {
		require.NoError(t, s.EraseEvents(t.Context(), tenant, []string{subject, uuid.NewString()}))
		var got []string
		for _, row := range append(feedOf(t, s, tenant), feedOf(t, s, other)...) {
			got = append(got, string(row.Data))
		}
		require.Equal(t, []string{erased, erased, data, erased, data}, got)
	}
	require.Zero(t, appendAt(t, s, today, batch(0, first)).Inserted, "what Kafka delivers again stays erased")
	require.JSONEq(t, erased, string(feedOf(t, s, tenant)[0].Data))
}

func TestTheEventsOfADayAreErasedInSteps(t *testing.T) {
	t.Parallel()
	s := setup(t)
	tenant := uuid.NewString()
	both := changes(tenant, 0, 2)
	both[1].SubjectId = both[0].GetSubjectId()
	for i, change := range both {
		change.Data = []byte(`{"externalRecipientId":"marked"}`)
		appendAt(t, s, today, batch(0, both[i:i+1]))
		_, err := s.pool.Exec(t.Context(), `INSERT INTO feed (tenant_id, day, position, event_id, type, brand_id, subject_id,
  origin_key_id, occurred_at, recorded_at, data)
SELECT tenant_id, day, nextval('feed_position'), gen_random_uuid(), type, brand_id, gen_random_uuid(), 0, occurred_at, recorded_at, ''
FROM feed, generate_series(1, $2) WHERE event_id = $1::uuid`, change.GetEventId(), eraseStep)
		require.NoError(t, err)
	}
	require.NoError(t, s.EraseEvents(t.Context(), tenant, []string{both[0].GetSubjectId()}))
	var erased int
	query := `SELECT count(*) FROM feed WHERE data = '{"externalRecipientId":"[erased]"}'`
	require.NoError(t, s.pool.QueryRow(t.Context(), query).Scan(&erased))
	require.Equal(t, 2, erased)
}
