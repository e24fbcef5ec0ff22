package outbox_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
)

func TestTheOutboxNeedsTheKeysOfItsEvents(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, outbox.Migrations())
	check := func(ids ...string) error { return sealtest.Ready(t, pool, eventKeys(t, ids...)) }
	require.NoError(t, check("b"), "an empty outbox needs no key")
	for _, id := range []string{"a", strings.Repeat("c", 32)} { // The shortest and the longest id.
		ref := seal.EventRef{TenantID: uuid.NewString(), EventID: uuid.NewString()}
		message, _ := sealtest.Message(t, sealtest.Writer(t, sealtest.Keys(id)), ref, "x")
		appendEvent(t, pool, ref, message)
		require.ErrorContains(t, check("b"), fmt.Sprintf(
			"outbox.data has values sealed with key %q, but the ring lacks the key: append it to GIFTING_EVENT_KEYS", id))
	}
	require.NoError(t, check("b", "a", strings.Repeat("c", 32)))
}

func TestAKeyWithOtherBytesIsWrongForTheOutbox(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, outbox.Migrations())
	ref := seal.EventRef{TenantID: uuid.NewString(), EventID: uuid.NewString()}
	link, err := sealtest.Writer(t, sealtest.Keys("a")).Seal(ref, []byte(`{"claimUrl":"https://g"}`), seal.ClaimURL)
	require.NoError(t, err)
	appendEvent(t, pool, ref, link)
	other := seal.EventKeys{Ring: "a" + strings.TrimPrefix(sealtest.Keys("b").Ring, "b")}
	ring, err := other.Parse()
	require.NoError(t, err)
	require.ErrorIs(t, sealtest.Ready(t, pool, seal.CheckedEventRing(ring, outbox.Sealed())), seal.ErrKeyWrong)
}

// The index calls the function on every insert, whatever tenants have named their fields.
func TestAnEventThatLooksSealedIsStoredAndNeedsNoKey(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, outbox.Migrations())
	for _, data := range []string{
		`{}`, `{"variations":{"$sealed":"red"}}`, `{"body":"{\"$sealed\":\"x\"}"}`, `{"claimUrl":null}`, "", "\x00\xff",
	} {
		appendEvent(t, pool, seal.EventRef{TenantID: uuid.NewString(), EventID: uuid.NewString()}, []byte(data))
	}
	require.NoError(t, sealtest.Ready(t, pool, eventKeys(t, "a")))
	for _, data := range []string{
		`{"body":{"$sealed":"`, `{"body":{"$sealed":"é\"}}`, `{"claimUrl":{"$sealed":"A"}}`, `{"claimUrl":{"$sealed":"////"}}`,
	} {
		appendEvent(t, pool, seal.EventRef{TenantID: uuid.NewString(), EventID: uuid.NewString()}, []byte(data))
	}
}

func TestTheCheckReadsFewRowsOfALargeOutbox(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, outbox.Migrations())
	ref := seal.EventRef{TenantID: uuid.NewString(), EventID: uuid.NewString()}
	message, _ := sealtest.Message(t, sealtest.Writer(t, sealtest.Keys("a")), ref, "x")
	const fill = `INSERT INTO outbox (event_id, tenant_id, brand_id, subject_id, type, occurred_at, data)
SELECT $1, $2, $2, $2, 'order.message_added', now(), CASE WHEN n % 2 = 0 THEN $3::bytea ELSE '{}' END
  FROM generate_series(1, 20000) n`
	_, err := pool.Exec(t.Context(), fill, ref.EventID, ref.TenantID, message)
	require.NoError(t, err)
	require.Less(t, sealtest.RowsRead(t, pool, eventKeys(t, "a"), "outbox"), 100)
}

func eventKeys(t *testing.T, ids ...string) seal.CheckedRing {
	t.Helper()
	ring, err := sealtest.Keys(ids...).Parse()
	require.NoError(t, err)
	return seal.CheckedEventRing(ring, outbox.Sealed())
}

func appendEvent(t *testing.T, pool postgres.Querier, ref seal.EventRef, data []byte) {
	t.Helper()
	b := &pgx.Batch{}
	outbox.Append(t.Context(), b, outbox.Event{
		ID: ref.EventID, TenantID: ref.TenantID, BrandID: ref.TenantID, SubjectID: ref.TenantID, Type: "order.message_added",
		OccurredAt: time.Now(), Data: data,
	})
	require.NoError(t, pool.SendBatch(t.Context(), b).Close())
}
