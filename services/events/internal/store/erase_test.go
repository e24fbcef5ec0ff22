package store

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

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
SELECT tenant_id, day, nextval('feed_position'), gen_random_uuid(), type, brand_id, gen_random_uuid(), 0, occurred_at, recorded_at,
  ''
FROM feed, generate_series(1, $2) WHERE event_id = $1::uuid`, change.GetEventId(), eraseStep)
		require.NoError(t, err)
	}
	require.NoError(t, s.EraseEvents(t.Context(), tenant, []string{both[0].GetSubjectId()}))
	var erased int
	query := `SELECT count(*) FROM feed WHERE data = '{"externalRecipientId":"[erased]"}'`
	require.NoError(t, s.pool.QueryRow(t.Context(), query).Scan(&erased))
	require.Equal(t, 2, erased)
}
