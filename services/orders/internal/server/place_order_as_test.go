package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func placeAs(a *commonv1.Actor, id string, order *ordersv1.PlaceOrderRequest) *ordersv1.PlaceOrderAsRequest {
	return &ordersv1.PlaceOrderAsRequest{Actor: a, TenantId: tenantID, OrderId: id, Order: order}
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
	problemtest.AtOnce(t, 8, func(int) error {
		_, err := f.PlaceOrderAs(t.Context(), placeAs(operator(), id, campaignRequest("")))
		return err
	})
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Equal(t, 4, f.catalog.unitsLeft())
	require.Equal(t, []string{"order.created"}, f.eventsOf(t, id))
	require.Zero(t, f.lastEvent(t).origin, "every key of the tenant gets the event")
	again, err := f.PlaceOrderAs(t.Context(), placeAs(operator(), id, request("")))
	require.NoError(t, err)
	require.True(t, proto.Equal(f.read(t, id), again.GetOrder()), "whatever the repetition says")
}

func TestTheUnitOfASpentOrderIDIsReturned(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.catalog.stock = 5
	r, id := campaignRequest(""), newID()
	f.abandon(t, id)
	for range 2 {
		_, err := f.PlaceOrderAs(t.Context(), placeAs(operator(), id, r))
		require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
		require.Equal(t, 5, f.catalog.unitsLeft())
	}
	_, err := f.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), r))
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
	ofAnotherTenant.TenantId = withOtherTenant(f)
	_, err := f.PlaceOrderAs(t.Context(), ofAnotherTenant)
	require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
	require.Equal(t, 1, f.count(t, "orders"))
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Zero(t, f.catalog.unitsLeft())
}

// An order that a key placed, and that holds no unit, does not make its id spent for another tenant.
func TestAnOrderIsCancelledWithoutReturningTheUnitOfAnotherTenant(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.catalog.stock = 1
	withoutUnit := f.placeOne(t, newID())
	ofAnotherTenant := placeAs(operator(), withoutUnit.GetId(), campaignRequest(""))
	ofAnotherTenant.TenantId = withOtherTenant(f)
	_, err := f.PlaceOrderAs(t.Context(), ofAnotherTenant)
	require.NoError(t, err)
	_, err = f.CancelOrder(f.keyContext(t, ""), &ordersv1.CancelOrderRequest{OrderId: withoutUnit.GetId(), Reason: "x"})
	require.NoError(t, err)
	require.NoError(t, f.reservations.Reconcile(t.Context()))
	require.Zero(t, f.catalog.unitsLeft())
}

// withOtherTenant adds a tenant with the same brand, and returns its id.
func withOtherTenant(f *fixture) string {
	f.tenants.SetTenant(&tenantstest.Settings{
		Tenant: &tenantsv1.Tenant{Id: otherBrand, Currency: "SEK"}, Brands: []*tenantsv1.Brand{{Id: brandID}},
	})
	return otherBrand
}

func TestNobodyPlacesAnOrderForAnOffboardedTenant(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.tenants.ChangeTenant(tenantID, func(s *tenantstest.Settings) { s.Offboarding = true })
	_, err := f.PlaceOrderAs(t.Context(), placeAs(operator(), newID(), request("")))
	require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
}
