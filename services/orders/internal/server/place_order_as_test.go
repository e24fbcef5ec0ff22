package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func placeAs(a *commonv1.Actor, id string, order *ordersv1.PlaceOrderRequest) *ordersv1.PlaceOrderAsRequest {
	return &ordersv1.PlaceOrderAsRequest{Actor: a, TenantId: tenantID, OrderId: id, Order: order}
}

func TestPeoplePlaceOrdersToo(t *testing.T) {
	d := openDesk(t)
	for name, tc := range map[string]struct {
		actor  *commonv1.Actor
		source ordersv1.OrderSource
	}{
		"the tenant's team": {person(aPlainMember), ordersv1.OrderSource_ORDER_SOURCE_WORKSPACE},
		"the operator":      {operator(), ordersv1.OrderSource_ORDER_SOURCE_BACKOFFICE},
	} {
		t.Run(name, func(t *testing.T) {
			id := newID()
			resp, err := d.PlaceOrderAs(t.Context(), placeAs(tc.actor, id, request("")))
			require.NoError(t, err)
			order := resp.GetOrder()
			require.Equal(t, id, order.GetId())
			require.Equal(t, tc.source, order.GetSource())
			require.Equal(t, requestedStatus, order.GetStatus(), "as the tenant requires")
			require.Nil(t, order.ExternalOrderId)
			require.Zero(t, order.GetVersion())
			require.True(t, proto.Equal(order, d.read(t, id)), "a key sees it")
			e := lastEvent(t, d.fixture)
			require.Equal(t, "order.created", e.kind)
			require.Zero(t, e.origin, "every key receives it")

			again, err := d.PlaceOrderAs(t.Context(), placeAs(tc.actor, id, request("something else")))
			require.NoError(t, err)
			require.True(t, proto.Equal(order, again.GetOrder()))
			require.Equal(t, []string{"order.created"}, d.eventsOf(t, id))
		})
	}
}

func TestThePublicRulesHoldForPeopleToo(t *testing.T) {
	d := openDesk(t)
	taken := d.in(t, processingStatus)
	for name, tc := range map[string]struct {
		spoil func(r *ordersv1.PlaceOrderAsRequest)
		want  problem.Code
	}{
		"no order":                {func(r *ordersv1.PlaceOrderAsRequest) { r.Order = nil }, problem.InvalidRequest},
		"a blank recipient":       {func(r *ordersv1.PlaceOrderAsRequest) { r.Order.Recipient = nil }, problem.InvalidRequest},
		"an id that is none":      {func(r *ordersv1.PlaceOrderAsRequest) { r.OrderId = "1" }, problem.InvalidRequest},
		"no brand":                {func(r *ordersv1.PlaceOrderAsRequest) { r.Order.BrandId = nil }, problem.BrandRequired},
		"a brand of nobody":       {func(r *ordersv1.PlaceOrderAsRequest) { r.Order.BrandId = proto.String(productID) }, problem.BrandNotFound},
		"no such manager":         {func(r *ordersv1.PlaceOrderAsRequest) { r.Order.ManagerEmail = proto.String("no@example.com") }, problem.ManagerNotFound},
		"a client":                {func(r *ordersv1.PlaceOrderAsRequest) { r.Actor = aClient() }, problem.InsufficientScope},
		"the platform":            {func(r *ordersv1.PlaceOrderAsRequest) { r.Actor = theSystem() }, problem.InsufficientScope},
		"an external id":          {func(r *ordersv1.PlaceOrderAsRequest) { r.Order.ExternalOrderId = newID() }, problem.InvalidRequest},
		"the id of a key's order": {func(r *ordersv1.PlaceOrderAsRequest) { r.OrderId = taken.GetId() }, problem.IdempotencyKeyReused},
	} {
		t.Run(name, func(t *testing.T) {
			r := placeAs(operator(), newID(), request(""))
			tc.spoil(r)
			_, err := d.PlaceOrderAs(t.Context(), r)
			p, ok := problem.As(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, tc.want, p.Code)
			require.Equal(t, 1, count(t, d.pool, "orders"))
		})
	}
}

func TestManyCallsWithOneOrderIDPlaceOneOrder(t *testing.T) {
	d := openDesk(t)
	w := newWarehouse(5)
	d.stockUp(w)
	id := newID()
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			r := request("")
			r.CampaignId, r.BrandId = proto.String(campaignID), nil
			resp, err := d.PlaceOrderAs(t.Context(), placeAs(operator(), id, r))
			if err == nil && resp.GetOrder().GetId() != id {
				return problem.Internal()
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.NoError(t, d.recovery.Settle(t.Context()))
	require.Equal(t, 4, w.left())
	require.Equal(t, []string{"order.created"}, d.eventsOf(t, id))
}

func TestASpentOrderIDGivesTheUnitBack(t *testing.T) {
	d := openDesk(t)
	w := newWarehouse(5)
	d.stockUp(w)
	r := request("")
	r.CampaignId, r.BrandId = proto.String(campaignID), nil
	id := newID()
	_, err := claims(d.fixture).AbandonClaimedOrder(t.Context(), &ordersv1.AbandonClaimedOrderRequest{TenantId: tenantID, OrderId: id})
	require.NoError(t, err)
	for range 2 {
		_, err := d.PlaceOrderAs(t.Context(), placeAs(operator(), id, r))
		require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
		require.Equal(t, 5, w.left())
	}
	_, err = d.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), r))
	require.NoError(t, err)
	require.Equal(t, 4, w.left())
}

// A second order under the id would give back the unit of the first when it is cancelled.
func TestAnOrderIDThatHoldsAUnitForAnotherTenantIsSpent(t *testing.T) {
	d := openDesk(t)
	w := newWarehouse(1)
	d.stockUp(w)
	held := d.campaignOrder(t)
	elsewhere := placeAs(operator(), held.GetId(), request(""))
	elsewhere.TenantId = otherBrand
	_, err := d.PlaceOrderAs(t.Context(), elsewhere)
	require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
	require.Equal(t, 1, count(t, d.pool, "orders"))
	require.NoError(t, d.recovery.Settle(t.Context()))
	require.Zero(t, w.left())
}
