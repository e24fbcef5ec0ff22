package rules_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

func TestTheIDOfADeliveryNamesAnEventForOneKey(t *testing.T) {
	t.Parallel()
	event := uuid.Must(uuid.NewV7())
	seen := map[string]bool{event.String(): true}
	for key := range int32(100) {
		id := uuid.MustParse(rules.DeliveryID(key, event.String()))
		require.Equal(t, event.String(), rules.EventOfDelivery(key, id))
		require.Equal(t, event.Version(), id.Version())
		require.Equal(t, uuid.RFC4122, id.Variant())
		require.Equal(t, rules.EventAt(event.String()), rules.EventAt(id.String()))
		require.False(t, seen[id.String()], "every key has another id, and none is the event's")
		seen[id.String()] = true
	}
	require.NotEqual(t, event.String(), rules.EventOfDelivery(8, uuid.MustParse(rules.DeliveryID(7, event.String()))))
}

func TestTheTimeOfAChangeIsThatOfItsEnvelope(t *testing.T) {
	t.Parallel()
	id := uuid.Must(uuid.NewV7()).String()
	at := time.Date(2026, 3, 14, 9, 21, 53, 123456000, time.UTC)
	for _, head := range []string{
		`{"id":"x","type":"order.created","occurredAt":"2026-03-14T09:21:53.123456Z","environment":"sandbox","data":{"na`,
		`{"id":"x","type":"occurredAt","occurredAt":"2026-03-14T09:21:53.123456Z"`,
	} {
		require.Equal(t, at, rules.OccurredAt(id, []byte(head)), head)
	}
	for _, head := range []string{"", "twin", `{"id":"x"}`, `{"occurredAt":7,"x":1}`, `{"occurredAt":"`, `{"occurredAt":"noon"}`} {
		require.Equal(t, rules.EventAt(id), rules.OccurredAt(id, []byte(head)), head)
	}
}
