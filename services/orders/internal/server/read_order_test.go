package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/retention"
)

const kept = 90 * 24 * time.Hour

// shortRetention deletes details and audit early, and closes no order.
var shortRetention = retention.Config{Details: kept, Open: 100 * 365 * 24 * time.Hour, Audit: 366 * 24 * time.Hour}

func (f *fixture) file(t *testing.T, a *commonv1.Actor, id string) *ordersv1.ReadOrderResponse {
	t.Helper()
	resp, err := f.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: a, TenantId: tenantID, OrderId: id})
	require.NoError(t, err)
	return resp
}

func TestTheFulfilmentOfACustomRequestHasItsBudget(t *testing.T) {
	t.Parallel()
	f := setup(t)
	r := request("o-1")
	r.Items = []*ordersv1.OrderItemInput{{
		CustomProductName: new("A ball"), Budget: &commonv1.Money{Amount: "12.5", Currency: "SEK"},
	}}
	placed, err := f.PlaceOrder(f.keyContext(t, "k"), r)
	require.NoError(t, err)
	budget := f.file(t, person(aMember), placed.GetOrder().GetId()).GetFulfilment().GetBudget()
	require.True(t, proto.Equal(&commonv1.Money{Amount: "12.50", Currency: "SEK"}, budget), "%v", budget)
}

func TestDetailsAreErasedAfterTheirRetention(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	now := f.clock
	over, cancelled := f.placeInStatus(t, completedStatus), f.placeInStatus(t, cancelledStatus)
	open := []*ordersv1.Order{
		f.placeInStatus(t, requestedStatus), f.placeInStatus(t, processingStatus), f.placeInStatus(t, sentStatus),
	}
	f.clock = now.Add(time.Hour)
	later := f.placeInStatus(t, completedStatus)

	for range 2 {
		require.NoError(t, f.sweep(t, now.Add(kept+time.Minute), shortRetention))
	}
	for _, o := range []*ordersv1.Order{over, cancelled} {
		require.True(t, proto.Equal(o, f.read(t, o.GetId())), "the record does not change")
		got := f.file(t, operator(), o.GetId())
		require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_ERASED, got.GetDetailsState())
		require.Nil(t, got.GetDetails())
		require.Len(t, f.eventsOf(t, o.GetId()), recordedBefore(o))
	}
	for _, o := range append(open, later) {
		require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_READABLE, f.file(t, operator(), o.GetId()).GetDetailsState())
	}

	t.Run("an erased order cannot reopen", func(t *testing.T) {
		_, err := f.correct(t, cancelled.GetId(), requestedStatus)
		require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
	})
	t.Run("and takes messages", func(t *testing.T) {
		_, err := f.PostMessageAs(t.Context(), message(operator(), over.GetId(), "late thanks"))
		require.NoError(t, err)
	})
	t.Run("an order reopened in time keeps its details", func(t *testing.T) {
		_, err := f.correct(t, later.GetId(), processingStatus)
		require.NoError(t, err)
		longAudit := shortRetention
		longAudit.Audit = shortRetention.Open
		require.NoError(t, f.sweep(t, now.AddDate(5, 0, 0), longAudit))
		require.Equal(t, ordersv1.DetailsState_DETAILS_STATE_READABLE, f.file(t, operator(), later.GetId()).GetDetailsState())
	})
}

func TestTheAuditIsDeletedOnlyAfterItsRetention(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).withApproval()
	order := f.placeInStatus(t, processingStatus)
	_, err := f.pool.Exec(t.Context(), `INSERT INTO order_audit (id, at, tenant_id, order_id, actor_kind, actor_id, operation)
SELECT gen_random_uuid(), now() - make_interval(days => n), $1, $2, 'SYSTEM', '', 'READ' FROM unnest(ARRAY[400, 1200]) AS n`,
		tenantID, order.GetId())
	require.NoError(t, err)
	threeYears := shortRetention
	threeYears.Audit = 3 * 365 * 24 * time.Hour
	require.NoError(t, f.sweep(t, time.Now(), threeYears))
	require.Equal(t, 2, f.count(t, "order_audit"))
	require.NoError(t, f.sweep(t, time.Now(), shortRetention))
	require.Equal(t, 1, f.count(t, "order_audit"))
	require.ErrorContains(t, f.sweep(t, time.Now().AddDate(10, 0, 0), shortRetention), "append-only", "a wrong clock deletes nothing")
	require.Equal(t, 1, f.count(t, "order_audit"))
}
