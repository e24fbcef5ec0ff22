package server_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
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

func TestMessagesAreListedInTheirOrderEvenIfTheClockJumpsBack(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	first, err := f.postMessage(t, "m1", order.GetId(), "first")
	require.NoError(t, err)
	f.clock = f.clock.Add(-time.Hour)
	second, err := f.postMessage(t, "m2", order.GetId(), "second")
	require.NoError(t, err)
	got := f.messages(t, order.GetId())
	require.Equal(t, []string{first, second}, []string{got[0].GetId(), got[1].GetId()})
	require.True(t, got[1].GetCreatedAt().AsTime().After(got[0].GetCreatedAt().AsTime()))
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

func TestAnOrderHasABoundedNumberOfMessages(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	order := f.placeOne(t, "o-1")
	f.addMessages(t, order.GetId(), 9_999, 1, false)
	f.addMessages(t, order.GetId(), 10_000, 1, true)
	posted := problemtest.AtOnce(t, 2, func(i int) error {
		_, err := f.postMessage(t, strconv.Itoa(i), order.GetId(), "the last one")
		return err
	}, problem.TooManyMessages)
	require.Equal(t, 1, posted)
	require.Len(t, f.messages(t, order.GetId()), 10_000)
}

func TestTheTextOfAllMessagesIsBounded(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	const number, length = 8000, 393 // Together a little less than 3 MiB.
	f.addMessages(t, order.GetId(), number, length, false)
	f.addMessages(t, order.GetId(), number, length, true)
	const left = 3<<20 - number*length
	_, err := f.postMessage(t, "m1", order.GetId(), strings.Repeat("x", left+1))
	require.True(t, problem.Is(err, problem.TooManyMessages), "%v", err)
	_, err = f.postMessage(t, "m2", order.GetId(), strings.Repeat("x", left))
	require.NoError(t, err)
	_, err = f.postMessage(t, "m3", order.GetId(), "x")
	require.True(t, problem.Is(err, problem.TooManyMessages), "%v", err)
	_, err = f.ExportPersonRecords(t.Context(), &privacyv1.ExportPersonRecordsRequest{
		TenantId: tenantID, RequestedBy: operator(), RecordIds: []string{order.GetId()},
	})
	require.NoError(t, err, "an order with so many messages and notes can be exported")
}

func TestConcurrentMessagesHaveDifferentTimes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	order := f.placeOne(t, "o-1")
	const callers = 10
	problemtest.AtOnce(t, callers, func(i int) error {
		_, err := f.postMessage(t, strconv.Itoa(i), order.GetId(), "x")
		return err
	})
	got := f.messages(t, order.GetId())
	require.Len(t, got, callers)
	for i := 1; i < callers; i++ {
		require.True(t, got[i].GetCreatedAt().AsTime().After(got[i-1].GetCreatedAt().AsTime()))
	}
}

func TestTheSealedTextOfAMessageOpensOnNoOtherMessage(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id := f.placeOne(t, "o-1").GetId()
	for _, body := range []string{"first", "second"} {
		_, err := f.postMessage(t, body, id, body)
		require.NoError(t, err)
	}
	_, err := f.pool.Exec(t.Context(), `UPDATE order_messages m SET body_sealed = o.body_sealed FROM order_messages o
	  WHERE m.tenant_id = $1 AND o.tenant_id = $1 AND m.id <> o.id`, tenantID)
	require.NoError(t, err)
	_, err = f.ListOrderMessages(f.keyContext(t, ""), &ordersv1.ListOrderMessagesRequest{OrderId: id})
	require.Error(t, err)
}
