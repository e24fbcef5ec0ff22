package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func placeAs(a *commonv1.Actor, id string, order *ordersv1.PlaceOrderRequest) *ordersv1.PlaceOrderAsRequest {
	return &ordersv1.PlaceOrderAsRequest{Actor: a, TenantId: tenantID, OrderId: id, Order: order}
}

func TestPeoplePlaceOrdersToo(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	for name, tc := range map[string]struct {
		actor  *commonv1.Actor
		source ordersv1.OrderSource
	}{
		"the tenant's team": {person(aMember), ordersv1.OrderSource_ORDER_SOURCE_WORKSPACE},
		"the operator":      {operator(), ordersv1.OrderSource_ORDER_SOURCE_BACKOFFICE},
	} {
		t.Run(name, func(t *testing.T) {
			id := newID()
			resp, err := f.PlaceOrderAs(t.Context(), placeAs(tc.actor, id, request("")))
			require.NoError(t, err)
			order := resp.GetOrder()
			require.Equal(t, id, order.GetId())
			require.Equal(t, tc.source, order.GetSource())
			require.Equal(t, requestedStatus, order.GetStatus(), "if the tenant requires approval")
			require.Nil(t, order.ExternalOrderId)
			require.Zero(t, order.GetVersion())
			require.True(t, proto.Equal(order, f.read(t, id)), "a key sees it")
			e := f.lastEvent(t)
			require.Equal(t, "order.created", e.kind)
			require.Zero(t, e.origin, "every key receives it")

			again, err := f.PlaceOrderAs(t.Context(), placeAs(tc.actor, id, request("something else")))
			require.NoError(t, err)
			require.True(t, proto.Equal(order, again.GetOrder()))
			require.Equal(t, []string{"order.created"}, f.eventsOf(t, id))
		})
	}
}

func TestThePublicRulesHoldForPeopleToo(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).withApproval()
	taken := f.placeInStatus(t, processingStatus)
	for name, tc := range map[string]struct {
		spoil func(r *ordersv1.PlaceOrderAsRequest)
		want  problem.Code
	}{
		"no order":                {func(r *ordersv1.PlaceOrderAsRequest) { r.Order = nil }, problem.InvalidRequest},
		"an unknown brand":        {func(r *ordersv1.PlaceOrderAsRequest) { r.Order.BrandId = new(productID) }, problem.BrandNotFound},
		"a client":                {func(r *ordersv1.PlaceOrderAsRequest) { r.Actor = aClient() }, problem.InsufficientScope},
		"an external id":          {func(r *ordersv1.PlaceOrderAsRequest) { r.Order.ExternalOrderId = newID() }, problem.InvalidRequest},
		"the id of a key's order": {func(r *ordersv1.PlaceOrderAsRequest) { r.OrderId = taken.GetId() }, problem.IdempotencyKeyReused},
	} {
		t.Run(name, func(t *testing.T) {
			r := placeAs(operator(), newID(), request(""))
			tc.spoil(r)
			_, err := f.PlaceOrderAs(t.Context(), r)
			p, ok := problem.As(err)
			require.True(t, ok, "%v", err)
			require.Equal(t, tc.want, p.Code)
			require.Equal(t, 1, f.count(t, "orders"))
		})
	}
}

func TestManyCallsWithOneOrderIDPlaceOneOrder(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.catalog.stock = 5
	id := newID()
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			resp, err := f.PlaceOrderAs(t.Context(), placeAs(operator(), id, campaignRequest("")))
			if err == nil && resp.GetOrder().GetId() != id {
				return problem.Internal()
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, 4, f.catalog.unitsLeft())
	require.Equal(t, []string{"order.created"}, f.eventsOf(t, id))
}

func TestTheUnitOfASpentOrderIDIsReturned(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.catalog.stock = 5
	r, id := campaignRequest(""), newID()
	_, err := f.AbandonClaimedOrder(t.Context(),
		&ordersv1.AbandonClaimedOrderRequest{TenantId: tenantID, OrderId: id, PersonalLinkId: newID()})
	require.NoError(t, err)
	for range 2 {
		_, err := f.PlaceOrderAs(t.Context(), placeAs(operator(), id, r))
		require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
		require.Equal(t, 5, f.catalog.unitsLeft())
	}
	_, err = f.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), r))
	require.NoError(t, err)
	require.Equal(t, 4, f.catalog.unitsLeft())
}

// Cancelling a second order with the id would return the unit of the first.
func TestAnOrderIDThatHoldsAUnitForAnotherTenantIsSpent(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).withApproval()
	f.catalog.stock = 1
	held := f.campaignOrder(t)
	ofAnotherTenant := placeAs(operator(), held.GetId(), request(""))
	ofAnotherTenant.TenantId = otherBrand
	f.tenants.SetTenant(&tenantstest.Settings{
		Tenant: &tenantsv1.Tenant{Id: otherBrand, Currency: "SEK"}, Brands: []*tenantsv1.Brand{{Id: brandID}},
	})
	_, err := f.PlaceOrderAs(t.Context(), ofAnotherTenant)
	require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
	require.Equal(t, 1, f.count(t, "orders"))
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Zero(t, f.catalog.unitsLeft())
}

func TestNobodyPlacesAnOrderForAnOffboardedTenant(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.tenants.ChangeTenant(tenantID, func(s *tenantstest.Settings) { s.Offboarding = true })
	_, err := f.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), request("")))
	require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
}
