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
