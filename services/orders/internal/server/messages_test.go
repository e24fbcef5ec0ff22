package server_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

func (f *fixture) postMessage(t *testing.T, key, orderID, body string) (string, error) {
	t.Helper()
	resp, err := f.PostOrderMessage(f.keyContext(t, key), &ordersv1.PostOrderMessageRequest{OrderId: orderID, Body: body})
	return resp.GetId(), err
}

func (f *fixture) messages(t *testing.T, orderID string) []*ordersv1.OrderMessage {
	t.Helper()
	resp, err := f.ListOrderMessages(f.keyContext(t, ""), &ordersv1.ListOrderMessagesRequest{OrderId: orderID})
	require.NoError(t, err)
	return resp.GetMessages()
}

func TestMessagesOfOtherTenantsDoNotCount(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	order := f.placeOne(t, "o-1")
	_, err := f.postMessage(t, newID(), order.GetId(), "first")
	require.NoError(t, err)
	f.copyToOtherTenant(t)
	_, err = f.pool.Exec(t.Context(), "UPDATE order_messages SET created_at = 'infinity' WHERE tenant_id = $1", otherTenant)
	require.NoError(t, err)
	_, err = f.postMessage(t, newID(), order.GetId(), "second")
	require.NoError(t, err)
	require.Len(t, f.messages(t, order.GetId()), 2)
}

func TestMessagesAreListedOldestFirst(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	require.Empty(t, f.messages(t, order.GetId()))
	first, err := f.postMessage(t, "m1", order.GetId(), "first")
	require.NoError(t, err)
	f.clock = f.clock.Add(-time.Hour) // A clock that jumps back does not change their order.
	second, err := f.postMessage(t, "m2", order.GetId(), "second")
	require.NoError(t, err)

	got := f.messages(t, order.GetId())
	require.Len(t, got, 2)
	require.Equal(t, []string{first, second}, []string{got[0].GetId(), got[1].GetId()})
	require.True(t, got[1].GetCreatedAt().AsTime().After(got[0].GetCreatedAt().AsTime()))
	require.Equal(t, "API_KEY", enumname.String(got[0].GetAuthor().GetKind()))
	require.Equal(t, "Shop", got[0].GetAuthor().GetName())

	t.Run("the event holds the message", func(t *testing.T) {
		e := f.lastEvent(t)
		require.Equal(t, "order.message_posted", e.kind)
		require.EqualValues(t, 7, e.origin)
		require.Equal(t, got[1].GetCreatedAt().AsTime(), e.occurredAt)
		require.Equal(t, order.GetId(), e.data["orderId"])
		require.Equal(t, "o-1", e.data["externalOrderId"])
		require.Equal(t, "second", e.data["message"].(map[string]any)["body"])
	})
	t.Run("the outbox holds its text sealed", func(t *testing.T) {
		require.Zero(t, f.count(t, "outbox WHERE convert_from(data, 'UTF8') LIKE '%second%'"))
	})
	t.Run("the order is not changed", func(t *testing.T) {
		require.True(t, proto.Equal(order, f.read(t, order.GetId())))
	})
	t.Run("a repetition posts nothing", func(t *testing.T) {
		again, err := f.postMessage(t, "m1", order.GetId(), "first")
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Len(t, f.messages(t, order.GetId()), 2)
	})
}

// addMessages stores messages of the operator's team. Their bodies begin with their numbers and have at least the given length.
func (f *fixture) addMessages(t *testing.T, orderID string, number, length int, internal bool) {
	t.Helper()
	ids, sealed, sizes := make([]string, number), make([][]byte, number), make([]int, number)
	for i := range number {
		body := strconv.Itoa(i + 1)
		body += strings.Repeat("x", max(0, length-len(body)))
		ids[i], sizes[i] = newID(), len(body)
		sealed[i] = f.ring.Seal([]byte(body), store.SealedColumns()[1].Columns[0].AssociatedData(ids[i]))
	}
	_, err := f.pool.Exec(t.Context(), `INSERT INTO order_messages
	  (tenant_id, order_id, id, author_kind, author_id, author_name, internal, body_sealed, body_bytes, created_at)
	SELECT $1, $2, id, 'BACKOFFICE_ACCOUNT', '1', 'Support', $3, sealed, size, now()
	FROM unnest($4::uuid[], $5::bytea[], $6::int[]) AS m (id, sealed, size)`, tenantID, orderID, internal, ids, sealed, sizes)
	require.NoError(t, err)
}

func TestAllMessagesAreListedWithoutInternalNotes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	f.addMessages(t, order.GetId(), 10_000, 1, false)
	f.addMessages(t, order.GetId(), 10, 1, true)
	got := f.messages(t, order.GetId())
	require.Len(t, got, 10_000)
	require.Equal(t, "1", got[0].GetBody())
	require.Equal(t, "10000", got[9999].GetBody())
	require.Equal(t, "Support", got[0].GetAuthor().GetName())
	require.Equal(t, ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_BACKOFFICE_ACCOUNT, got[0].GetAuthor().GetKind())
}

func TestAnOrderHasABoundedNumberOfMessages(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	f.addMessages(t, order.GetId(), 9_999, 1, false)
	f.addMessages(t, order.GetId(), 10_000, 1, true)
	results := make(chan error)
	for _, key := range []string{"m1", "m2"} {
		go func() {
			_, err := f.postMessage(t, key, order.GetId(), "the last one")
			results <- err
		}()
	}
	one, other := <-results, <-results
	require.NotEqual(t, one == nil, other == nil, "%v, %v", one, other)
	require.True(t, problem.Is(errors.Join(one, other), problem.TooManyMessages), "%v, %v", one, other)
	require.Len(t, f.messages(t, order.GetId()), 10_000)
}

func TestTheTextOfAllMessagesIsBounded(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	const number, length = 2097, 4000 // Together a little less than 8 MiB.
	f.addMessages(t, order.GetId(), number, length, false)
	const left = 8<<20 - number*length
	_, err := f.postMessage(t, "m1", order.GetId(), strings.Repeat("x", left+1))
	require.True(t, problem.Is(err, problem.TooManyMessages), "%v", err)
	_, err = f.postMessage(t, "m2", order.GetId(), strings.Repeat("x", left))
	require.NoError(t, err)
	_, err = f.postMessage(t, "m3", order.GetId(), "x")
	require.True(t, problem.Is(err, problem.TooManyMessages), "%v", err)
}

func TestConcurrentMessagesHaveDifferentTimes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	const callers = 10
	var group errgroup.Group
	for i := range callers {
		group.Go(func() error {
			key := string(rune('a' + i))
			_, err := f.postMessage(t, key, order.GetId(), key)
			return err
		})
	}
	require.NoError(t, group.Wait())
	got := f.messages(t, order.GetId())
	require.Len(t, got, callers)
	for i := 1; i < callers; i++ {
		require.True(t, got[i].GetCreatedAt().AsTime().After(got[i-1].GetCreatedAt().AsTime()))
	}
}

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
		_, err = f.ListOrderMessages(f.keyContext(t, ""), &ordersv1.ListOrderMessagesRequest{OrderId: id})
		require.Error(t, err)
	})
}
