package server_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/problem/problemtest"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

func TestApprovalAndHours(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.clock = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) // A Saturday.
	resp, err := f.PlaceOrder(f.keyContext(t, "k"), request("o-1"))
	require.NoError(t, err)
	require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_REQUESTED, resp.GetOrder().GetStatus())
	require.True(t, resp.GetOrder().GetReceivedOutsideActiveHours())
}

func TestVariationsThatTheEdgeCutsShortAreInvalidVariations(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.checkError = problem.New(problem.InvalidVariations, "no")
	var variations strings.Builder
	for i := range 250_001 {
		fmt.Fprintf(&variations, `"%d":"x",`, i)
	}
	r := request("o-1")
	cut := restjson.Unmarshal(fmt.Appendf(nil, `{"items":[{"productId":%q,"variations":{%s}}]}`,
		productID, strings.TrimSuffix(variations.String(), ",")), r)
	require.Len(t, cut, 1)
	ctx := caller.WithRequest(f.keyContext(t, "k"), caller.Request{IdempotencyKey: "k", Fingerprint: []byte("k"), Violations: cut})
	_, err := f.PlaceOrder(ctx, r)
	require.True(t, problem.Is(err, problem.InvalidVariations), "%v", err)
	valid, err := f.ValidateOrder(ctx, r)
	require.NoError(t, err)
	require.Equal(t, []string{"invalid_variations"}, problemsOf(valid))
}

func TestAnExternalOrderIDIsTakenOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	placed := problemtest.AtOnce(t, 20, func(i int) error {
		_, err := f.PlaceOrder(f.keyContext(t, fmt.Sprint("many-", i)), request("o-2"))
		return err
	}, problem.ExternalOrderIDConflict)
	require.Equal(t, 1, placed)
	require.Equal(t, 1, f.count(t, "outbox"))
}

func TestStockIsNeverLost(t *testing.T) {
	t.Parallel()
	t.Run("a placed order keeps its unit", func(t *testing.T) {
		f := setupWithoutTwins(t)
		resp, err := f.PlaceOrder(f.keyContext(t, "k"), campaignRequest("o-1"))
		require.NoError(t, err)
		require.Equal(t, brandID, resp.GetOrder().GetBrandId())
		f.reservations.Abandon(t.Context(), store.Reserved{TenantID: tenantID, OrderID: resp.GetOrder().GetId()})
		require.Equal(t, []string{resp.GetOrder().GetId()}, f.catalog.confirmed)
		require.Empty(t, f.catalog.released)
	})
	t.Run("a conflict returns the unit immediately", func(t *testing.T) {
		f := setupWithoutTwins(t)
		_, err := f.PlaceOrder(f.keyContext(t, "k1"), campaignRequest("o-1"))
		require.NoError(t, err)
		_, err = f.PlaceOrder(f.keyContext(t, "k2"), campaignRequest("o-1"))
		require.True(t, problem.Is(err, problem.ExternalOrderIDConflict))
		require.Len(t, f.catalog.released, 1)
	})
	t.Run("a repetition takes no unit, even if catalog has forgotten the first one", func(t *testing.T) {
		f := setupWithoutTwins(t)
		placed, err := f.PlaceOrder(f.keyContext(t, "k"), campaignRequest("o-1"))
		require.NoError(t, err)
		left := f.catalog.unitsLeft()
		f.catalog.holds = map[string]*hold{}
		again, err := f.PlaceOrder(f.keyContext(t, "k"), campaignRequest("o-1"))
		require.NoError(t, err)
		require.Equal(t, placed.GetOrder().GetId(), again.GetOrder().GetId())
		require.Equal(t, left, f.catalog.unitsLeft())
		require.Empty(t, f.catalog.holds)
	})
	t.Run("an abandoned order cannot be placed", func(t *testing.T) {
		f := setupWithoutTwins(t)
		_, err := f.PlaceOrder(f.keyContext(t, "k1"), campaignRequest("o-1"))
		require.NoError(t, err)
		late := f.keyContext(t, "k2")
		ahead := "0198f2e4-0000-7000-8000-0000000000ff"
		r, ok := idempotency.FromContext(late)
		require.True(t, ok)
		f.catalog.holds[ahead] = &hold{string(r.ReservationKey()), "RESERVED"}
		f.catalog.failReports(errCatalogDown) // Catalog does not know yet that the order was abandoned.
		f.reservations.Abandon(t.Context(), store.Reserved{TenantID: tenantID, OrderID: ahead})
		_, err = f.PlaceOrder(late, campaignRequest("o-2"))
		require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
		require.Equal(t, 1, f.count(t, "orders"))
	})
}

func TestARepetitionGetsItsOrderWhateverHasChanged(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(f *fixture){
		"the catalog is down":        func(f *fixture) { f.catalog.checkError = errCatalogDown },
		"the gift is no longer sold": func(f *fixture) { f.catalog.checkError = problem.New(problem.ProductNotAvailable, "no") },
		"the stock is empty":         func(f *fixture) { f.catalog.reserveError = problem.New(problem.OutOfStock, "no") },
		"the settings are lost":      func(f *fixture) { f.settings += 100; f.tenants.Fail(errCatalogDown) },
	} {
		t.Run(name, func(t *testing.T) {
			f := setupWithoutTwins(t)
			placed, err := f.PlaceOrder(f.keyContext(t, "k"), campaignRequest("o-1"))
			require.NoError(t, err)
			change(f)
			again, err := f.PlaceOrder(f.keyContext(t, "k"), campaignRequest("o-1"))
			require.NoError(t, err)
			require.Equal(t, placed.GetOrder().GetId(), again.GetOrder().GetId())
			_, err = f.PlaceOrder(f.keyContext(t, "another"), campaignRequest("o-2"))
			require.Error(t, err)
			require.Equal(t, 1, f.count(t, "orders"))
		})
	}
}

func TestARefusedOrderIsOnlyForAKeyThatReachesItsBrand(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.catalog.checkError = problem.New(problem.ProductNotAvailable, "no")
	_, err := f.PlaceOrder(f.keyContext(t, "k", brandID), request("o-1"))
	require.True(t, problem.Is(err, problem.ProductNotAvailable), "%v", err)
	_, err = f.PlaceOrder(f.keyContext(t, "k", otherBrand), request("o-1"))
	require.True(t, problem.Is(err, problem.BrandNotFound), "%v", err)
}

func TestAFailureOfTheDatabaseIsNoProblem(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.pool.Close()
	_, err := f.PlaceOrder(f.keyContext(t, "k"), request("o-1"))
	require.Error(t, err)
	_, isProblem := errors.AsType[*problem.Error](err)
	require.False(t, isProblem)
}

func TestAnOrderWhoseReferenceIsTakenGetsAnother(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	first := f.placeOne(t, "o-1")
	// The first reference is taken, however often it is tried. A sequence keeps what a transaction undoes.
	_, err := f.pool.Exec(t.Context(), `CREATE SEQUENCE tried;
CREATE FUNCTION clash() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE hash bigint := 2 + abs(hashtext(NEW.reference)::bigint);
BEGIN
  IF (SELECT last_value FROM tried) IN (1, hash) THEN
    PERFORM setval('tried', hash);
    NEW.reference := (SELECT reference FROM orders LIMIT 1);
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER clash BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION clash()`)
	require.NoError(t, err)
	second := f.placeOne(t, "o-2")
	require.NotEqual(t, first.GetReference(), second.GetReference())
	require.True(t, proto.Equal(second, f.read(t, second.GetId())), "the answer has the reference that is stored")
	require.Equal(t, 2, f.count(t, "outbox"))
}
