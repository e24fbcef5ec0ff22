package store

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
)

func eventKeys(t *testing.T, ids ...string) seal.CheckedRing {
	t.Helper()
	ring, err := sealtest.Keys(ids...).Parse()
	require.NoError(t, err)
	return seal.CheckedEventRing(ring, Sealed())
}

// message is a change with a message, sealed with the key.
func message(t *testing.T, offset int64, key string) Change {
	t.Helper()
	c := changes(tenantA, offset, 1)[0]
	ref := seal.EventRef{TenantID: c.GetTenantId(), EventID: c.GetEventId()}
	c.Data, _ = sealtest.Message(t, sealtest.Writer(t, sealtest.Keys(key)), ref, "x")
	return c
}

func TestTheFeedNeedsTheKeysOfItsEventsUntilTheyAreDropped(t *testing.T) {
	t.Parallel()
	s := setup(t)
	appendAt(t, s, today, batch(0, changes(tenantA, 0, 1)))
	require.NoError(t, sealtest.Ready(t, s.pool, eventKeys(t, "b")), "events without sealed members need no key")
	appendAt(t, s, today, batch(0, []Change{message(t, 1, "a")}))
	appendAt(t, s, today.AddDate(0, 0, 3), batch(0, []Change{message(t, 2, "b")}))
	require.NoError(t, sealtest.Ready(t, s.pool, eventKeys(t, "b", "a")))
	err := sealtest.Ready(t, s.pool, eventKeys(t, "b"))
	require.ErrorIs(t, err, seal.ErrKeyMissing)
	require.ErrorContains(t, err, `feed.data has values sealed with key "a"`)

	_, err = at(today.AddDate(0, 0, 3), s).DropOlder(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, sealtest.Ready(t, s.pool, eventKeys(t, "b")))
}

func TestTheCheckReadsFewRowsOfALargeFeed(t *testing.T) {
	t.Parallel()
	s := setup(t)
	require.NoError(t, s.EnsureDays(t.Context(), 3))
	ref := seal.EventRef{TenantID: tenantA, EventID: uuid.NewString()}
	sealed, _ := sealtest.Message(t, sealtest.Writer(t, sealtest.Keys("a")), ref, "x")
	pgtest.Exec(t, s.pool, `
INSERT INTO feed (tenant_id, day, position, event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at, data)
SELECT $1, $3::date + n % 3, n, gen_random_uuid(), 'order.message_added', $1, $1, 0, now(), now(),
       CASE WHEN n % 2 = 0 THEN $2::bytea ELSE '{}' END
  FROM generate_series(1, 20000) n`, tenantA, sealed, today)
	require.Less(t, sealtest.RowsRead(t, s.pool, eventKeys(t, "a"), "feed%"), 100)
}

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
