package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// bodies returns what the messages of an order are to the API.
func (f *fixture) bodies(t *testing.T, orderID string) (bodies []string) {
	t.Helper()
	for _, m := range f.messages(t, orderID) {
		bodies = append(bodies, m.GetBody())
	}
	return bodies
}

func TestTheTextOfAMessageIsStoredSealed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.placeOne(t, "o-1").GetId()
	_, err := f.postMessage(t, "m1", id, "canary")
	require.NoError(t, err)
	note := &ordersv1.AddInternalNoteRequest{Actor: operator(), TenantId: tenantID, OrderId: id, MessageId: newID(), Body: "canary"}
	first, err := f.AddInternalNote(t.Context(), note)
	require.NoError(t, err)
	require.Equal(t, []string{"canary"}, f.bodies(t, id))
	for _, m := range f.rowsOf(t, "order_messages", tenantID) {
		require.NotEmpty(t, m["body_sealed"])
		require.InDelta(t, len("canary"), m["body_bytes"], 0)
	}
	t.Run("and compared with a repetition in clear", func(t *testing.T) {
		again, err := f.AddInternalNote(t.Context(), note)
		require.NoError(t, err)
		require.Equal(t, first.GetEntry().GetMessage().GetBody(), again.GetEntry().GetMessage().GetBody())
		note.Body = "another"
		_, err = f.AddInternalNote(t.Context(), note)
		require.Error(t, err)
	})
	t.Run("and opens on no other message", func(t *testing.T) {
		_, err := f.postMessage(t, "m2", id, "second")
		require.NoError(t, err)
		_, err = f.pool.Exec(t.Context(), `UPDATE order_messages m SET body_sealed = o.body_sealed FROM order_messages o
		  WHERE m.tenant_id = $1 AND o.tenant_id = $1 AND NOT m.internal AND NOT o.internal AND m.id <> o.id`, tenantID)
		require.NoError(t, err)
		_, err = f.ListOrderMessages(f.as(t, ""), &ordersv1.ListOrderMessagesRequest{OrderId: id})
		require.Error(t, err)
	})
}
