package store

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func TestErasedEventsSayNothingAboutThePerson(t *testing.T) {
	t.Parallel()
	s := setup(t)
	tenant, other := uuid.NewString(), uuid.NewString()
	const data, erased = `{"externalRecipientId":"marked","id":"x"}`, `{"externalRecipientId":"[erased]","id":"x"}`
	first, second := changes(tenant, 0, 3), changes(other, 3, 1)
	for _, c := range append(first, second...) {
		c.Data = []byte(data)
	}
	subject := first[0].GetSubjectId()
	first[2].SubjectId, second[0].SubjectId = subject, subject
	appendAt(t, s, today, batch(0, append(first, second...)))
	for range 2 {
		require.NoError(t, s.EraseEvents(t.Context(), tenant, []string{subject, uuid.NewString()}))
		var got []string
		for _, row := range append(feedOf(t, s, tenant), feedOf(t, s, other)...) {
			got = append(got, string(row.Data))
		}
		require.Equal(t, []string{erased, data, erased, data}, got)
	}
	require.Zero(t, appendAt(t, s, today, batch(0, first)).Inserted, "what Kafka delivers again stays erased")
	require.JSONEq(t, erased, string(feedOf(t, s, tenant)[0].Data))
}
