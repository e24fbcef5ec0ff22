package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

func TestAPlacedOrderIsReturnedStoredAndRecorded(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t)
	f.clock = f.clock.Add(-12 * time.Hour) // Within the active hours.
	resp, err := f.PlaceOrder(f.keyContext(t, "k"), request("o-1"))
	require.NoError(t, err)
	order := resp.GetOrder()
	require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_PROCESSING, order.GetStatus())
	require.Equal(t, ordersv1.OrderSource_ORDER_SOURCE_API, order.GetSource())
	require.Zero(t, order.GetVersion())
	require.Equal(t, "Mug", order.GetItems()[0].GetProductName())
	require.False(t, order.GetReceivedOutsideActiveHours())
	require.Equal(t, 900_456_000, order.GetCreatedAt().AsTime().Nanosecond(), "whole microseconds")

	t.Run("a read returns the same record", func(t *testing.T) {
		require.True(t, proto.Equal(order, f.read(t, order.GetId())))
	})
	t.Run("the event holds the same record", func(t *testing.T) {
		e := f.lastEvent(t)
		want, err := restjson.Marshal(order)
		require.NoError(t, err)
		require.Equal(t, "order.created", e.kind)
		require.Equal(t, order.GetId(), e.subject)
		require.JSONEq(t, string(want), string(e.raw))
		require.EqualValues(t, theKey, e.origin)
		require.Equal(t, order.GetUpdatedAt().AsTime(), e.occurredAt)
	})
	t.Run("personal data is in the sealed column only", func(t *testing.T) {
		require.NotContains(t, order.String(), "Marked")
		for _, table := range []string{"orders", "outbox", "idempotency_answers"} {
			var row []byte
			require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT to_jsonb(x)::text::bytea FROM "+table+" x").Scan(&row))
			require.NotContains(t, string(bytes.ToLower(row)), "marked")
			require.NotContains(t, string(row), "70123")
		}
		require.Equal(t, "+46701234567", f.sealedRecipient(t, order.GetId())["phone"])
	})
	t.Run("a repetition gets the same answer and places nothing", func(t *testing.T) {
		again, err := f.PlaceOrder(f.keyContext(t, "k"), request("o-1"))
		require.NoError(t, err)
		require.True(t, proto.Equal(resp, again))
		require.Equal(t, 1, f.count(t, "orders"))
		require.Equal(t, 1, f.count(t, "outbox"))
	})
}

func TestApprovalAndHours(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	f.clock = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) // A Saturday.
	resp, err := f.PlaceOrder(f.keyContext(t, "k"), request("o-1"))
	require.NoError(t, err)
	require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_REQUESTED, resp.GetOrder().GetStatus())
	require.True(t, resp.GetOrder().GetReceivedOutsideActiveHours())
}

func TestABrandOutOfReachIsNotFound(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.PlaceOrder(f.keyContext(t, "k", otherBrand), request("o-1"))
	require.True(t, problem.Is(err, problem.BrandNotFound), "%v", err)
	require.Zero(t, f.count(t, "orders"))
	require.Zero(t, f.catalog.checks, "an earlier check fails")
}

func TestAnErrorOnlyTheCatalogFindsIsReportedWithTheOthers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.catalog.checkError = problem.Invalid(problem.Violation{Field: "customization", Code: problem.FieldInvalid, Message: "no"})
	r := request("")
	r.Customization = &ordersv1.OrderCustomization{Details: "x"}
	_, err := f.PlaceOrder(f.keyContext(t, "k"), r)
	require.Equal(t, []string{"externalOrderId required", "customization invalid"}, violationsOf(t, err))
}

func TestErrorsOfTheEdgeAreReportedWithTheOthers(t *testing.T) {
	t.Parallel()
	f := setup(t)
	ctx := caller.WithRequest(f.keyContext(t, "k"), caller.Request{IdempotencyKey: "k", Violations: []problem.Violation{
		{Field: "urgent", Code: problem.FieldInvalid, Message: "must be a boolean"},
	}})
	_, err := f.PlaceOrder(ctx, request(""))
	require.Equal(t, []string{"urgent invalid", "externalOrderId required"}, violationsOf(t, err))
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

	t.Run("and something other than an object is an error itself", func(t *testing.T) {
		r := request("o-1")
		wrong := restjson.Unmarshal(fmt.Appendf(nil, `{"items":[{"productId":%q,"variations":[]}]}`, productID), r)
		ctx := caller.WithRequest(f.keyContext(t, "k2"), caller.Request{IdempotencyKey: "k2", Violations: wrong})
		_, err := f.PlaceOrder(ctx, r)
		require.Equal(t, []string{"items[0].variations invalid"}, violationsOf(t, err))
	})
}

func TestAnExternalOrderIDIsTakenOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeOne(t, "o-1")
	t.Run("a key that has lost the brand of the order since does not get its id", func(t *testing.T) {
		r := request("o-1")
		r.BrandId = new(otherBrand)
		for _, keyed := range []context.Context{f.keyContext(t, "k4"), f.keyContext(t, "k4", otherBrand)} {
			_, err := f.PlaceOrder(keyed, r)
			p, ok := problem.As(err)
			require.True(t, ok)
			require.Equal(t, problem.ExternalOrderIDConflict, p.Code)
			principal, err := caller.PrincipalFrom(keyed)
			require.NoError(t, err)
			require.Equal(t, principal.AllBrands, p.OrderID != "")
		}
	})
	t.Run("of many concurrent ones, one is placed", func(t *testing.T) {
		var group errgroup.Group
		placed := make(chan string, 20)
		for i := range 20 {
			group.Go(func() error {
				resp, err := f.PlaceOrder(f.keyContext(t, fmt.Sprint("many-", i)), request("o-2"))
				if problem.Is(err, problem.ExternalOrderIDConflict) {
					return nil
				}
				placed <- resp.GetOrder().GetId()
				return err
			})
		}
		require.NoError(t, group.Wait())
		require.Len(t, placed, 1)
		require.Equal(t, 2, f.count(t, "outbox"))
	})
}

func TestStockIsNeverLost(t *testing.T) {
	t.Parallel()
	t.Run("a placed order keeps its unit", func(t *testing.T) {
		f := setupWithoutTwins(t)
		resp, err := f.PlaceOrder(f.keyContext(t, "k"), campaignRequest("o-1"))
		require.NoError(t, err)
		require.Equal(t, brandID, resp.GetOrder().GetBrandId())
		f.reservations.GiveUp(t.Context(), store.Reserved{TenantID: tenantID, OrderID: resp.GetOrder().GetId()})
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
		f.reservations.GiveUp(t.Context(), store.Reserved{TenantID: tenantID, OrderID: ahead})
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
