package server_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/tenantcache"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/server"
	"github.com/partnergifting/platform/services/orders/internal/store"
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
		require.Equal(t, "[sealed]", m["body"])
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

func TestMessagesOfEarlierVersionsAreSealed(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	id := f.placeOne(t, "o-1").GetId()
	f.addMessages(t, id, 1001, 1, false) // Of three batches.
	_, err := f.pool.Exec(t.Context(), "UPDATE order_messages SET body = '[erased]' WHERE body = '7'")
	require.NoError(t, err)
	before := f.bodies(t, id)
	for _, want := range []string{"sealed 1000 messages that were in plain text\n", "sealed 0 messages that were in plain text\n"} {
		var out bytes.Buffer
		require.NoError(t, f.store.SealMessages(t.Context(), &out))
		require.Contains(t, out.String(), want)
		require.Equal(t, 1000, f.count(t, "order_messages WHERE body = '[sealed]' AND body_bytes BETWEEN 1 AND 4"))
		require.Equal(t, before, f.bodies(t, id))
	}
	t.Run("and their erasure by an earlier version removes the sealed text", func(t *testing.T) {
		_, err := f.pool.Exec(t.Context(), "UPDATE order_messages SET body = '[erased]' WHERE body <> '[erased]'")
		require.NoError(t, err)
		require.Zero(t, f.count(t, "order_messages WHERE body_sealed IS NOT NULL OR body_bytes IS NOT NULL"))
		require.NotContains(t, f.bodies(t, id), "1")
	})
}

// While readers of the previous version run, sealing is off.
func TestWithSealingOffMessagesStayInPlainText(t *testing.T) {
	t.Parallel()
	f := setupAlone(t)
	id := f.placeOne(t, "o-1").GetId()
	_, err := f.postMessage(t, "m1", id, "sealed before")
	require.NoError(t, err)
	f.Server = server.New(server.Deps{
		Store: store.New(f.pool, f.ring, nil), Tenants: tenantcache.New(f.tenants.Client), Catalog: f.catalog,
		Reservations: f.reservations, Clock: func() time.Time { return f.clock },
	}, server.Config{OperatorName: operatorName})
	_, err = f.postMessage(t, "m2", id, "in plain text")
	require.NoError(t, err)
	require.Equal(t, 1, f.count(t, "order_messages WHERE body = 'in plain text' AND body_sealed IS NULL"))
	require.Equal(t, []string{"sealed before", "in plain text"}, f.bodies(t, id))
}
