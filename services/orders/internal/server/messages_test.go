package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func post(t *testing.T, f *fixture, key, orderID, body string) (string, error) {
	t.Helper()
	resp, err := f.PostOrderMessage(as(t, key), &ordersv1.PostOrderMessageRequest{OrderId: orderID, Body: body})
	return resp.GetId(), err
}

func messages(t *testing.T, f *fixture, orderID string) []*ordersv1.OrderMessage {
	t.Helper()
	resp, err := f.ListOrderMessages(as(t, ""), &ordersv1.ListOrderMessagesRequest{OrderId: orderID})
	require.NoError(t, err)
	return resp.GetMessages()
}

func TestMessagesAreListedOldestFirst(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	require.Empty(t, messages(t, f, order.GetId()))
	first, err := post(t, f, "m1", order.GetId(), "first")
	require.NoError(t, err)
	f.now = f.now.Add(-time.Hour) // A clock that jumps does not turn their order.
	second, err := post(t, f, "m2", order.GetId(), "second")
	require.NoError(t, err)

	got := messages(t, f, order.GetId())
	require.Len(t, got, 2)
	require.Equal(t, []string{first, second}, []string{got[0].GetId(), got[1].GetId()})
	require.True(t, got[1].GetCreatedAt().AsTime().After(got[0].GetCreatedAt().AsTime()))
	require.Equal(t, "API_KEY", got[0].GetAuthor().GetKind().String()[len("MESSAGE_AUTHOR_KIND_"):])
	require.Equal(t, "Shop", got[0].GetAuthor().GetName())

	t.Run("the event holds the message", func(t *testing.T) {
		e := lastEvent(t, f)
		require.Equal(t, "order.message_posted", e.kind)
		require.EqualValues(t, 7, e.origin)
		require.Equal(t, got[1].GetCreatedAt().AsTime(), e.occurredAt)
		require.Equal(t, order.GetId(), e.data["orderId"])
		require.Equal(t, "o-1", e.data["externalOrderId"])
		require.Equal(t, "second", e.data["message"].(map[string]any)["body"])
	})
	t.Run("the order stays as it was", func(t *testing.T) {
		read, err := f.GetOrder(as(t, ""), &ordersv1.GetOrderRequest{OrderId: order.GetId()})
		require.NoError(t, err)
		require.True(t, proto.Equal(order, read.GetOrder()))
	})
	t.Run("a repetition posts nothing", func(t *testing.T) {
		again, err := post(t, f, "m1", order.GetId(), "first")
		require.NoError(t, err)
		require.Equal(t, first, again)
		require.Len(t, messages(t, f, order.GetId()), 2)
	})
}

func TestInternalNotesAreHiddenAndOfManyTheNewestAreShown(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	_, err := f.pool.Exec(t.Context(), `INSERT INTO order_messages
	  (id, tenant_id, order_id, author_kind, author_id, author_name, internal, body, created_at)
	SELECT gen_random_uuid(), $1, $2, 'BACKOFFICE_ACCOUNT', '1', 'Desk', n % 2 = 0, n::text, now() FROM generate_series(1, 2010) n`,
		tenantID, order.GetId())
	require.NoError(t, err)
	got := messages(t, f, order.GetId())
	require.Len(t, got, 1000)
	require.Equal(t, "11", got[0].GetBody())
	require.Equal(t, "2009", got[999].GetBody())
	require.Equal(t, "Desk", got[0].GetAuthor().GetName())
	require.Equal(t, ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_BACKOFFICE_ACCOUNT, got[0].GetAuthor().GetKind())
}

func TestAMessageIsRefused(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	for name, tc := range map[string]struct {
		id, body string
		want     problem.Code
		field    string
	}{
		"when blank":    {order.GetId(), " \n", problem.InvalidRequest, problem.FieldRequired},
		"when too long": {order.GetId(), strings.Repeat("é", 4001), problem.InvalidRequest, problem.FieldTooLong},
		"with NUL":      {order.GetId(), "a\x00b", problem.InvalidRequest, problem.FieldInvalid},
		"on no order":   {tenantID, "x", problem.NotFound, ""},
		"on no uuid":    {"x", "x", problem.NotFound, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := post(t, f, name, tc.id, tc.body)
			p, ok := problem.As(err)
			require.True(t, ok)
			require.Equal(t, tc.want, p.Code)
			if tc.field != "" {
				require.Equal(t, "body", p.Violations[0].Field)
				require.Equal(t, tc.field, p.Violations[0].Code)
			}
		})
	}
	t.Run("out of the key's brands, as is their list", func(t *testing.T) {
		ctx := as(t, "k", otherBrand)
		_, err := f.PostOrderMessage(ctx, &ordersv1.PostOrderMessageRequest{OrderId: order.GetId(), Body: " "})
		require.True(t, problem.Is(err, problem.NotFound))
		_, err = f.ListOrderMessages(ctx, &ordersv1.ListOrderMessagesRequest{OrderId: order.GetId()})
		require.True(t, problem.Is(err, problem.NotFound))
	})
	require.Equal(t, 1, count(t, f.pool, "outbox"))
}

func TestALongestMessageIsPostedInEveryStatus(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	for _, status := range []string{"REQUESTED", "PROCESSING", "SENT", "COMPLETED", "CANCELLED"} {
		_, err := f.pool.Exec(t.Context(), `UPDATE orders SET status = $1::text,
		  cancellation_reason = CASE WHEN $1::text = 'CANCELLED' THEN 'x' END`, status)
		require.NoError(t, err)
		_, err = post(t, f, status, order.GetId(), strings.Repeat("é", 4000))
		require.NoError(t, err)
	}
}

func TestMessagesPostedAtOnceHaveDifferentTimes(t *testing.T) {
	f := setup(t)
	order := placeOne(t, f, "o-1")
	const callers = 10
	var group errgroup.Group
	for i := range callers {
		group.Go(func() error {
			key := string(rune('a' + i))
			_, err := post(t, f, key, order.GetId(), key)
			return err
		})
	}
	require.NoError(t, group.Wait())
	got := messages(t, f, order.GetId())
	require.Len(t, got, callers)
	for i := 1; i < callers; i++ {
		require.True(t, got[i].GetCreatedAt().AsTime().After(got[i-1].GetCreatedAt().AsTime()))
	}
}
