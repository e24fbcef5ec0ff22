package server_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func TestAPlacedOrderIsAnsweredStoredAndRecorded(t *testing.T) {
	f := setup(t)
	resp, err := f.PlaceOrder(as(t, "k"), request("o-1"))
	require.NoError(t, err)
	order := resp.GetOrder()
	require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_PROCESSING, order.GetStatus())
	require.Equal(t, ordersv1.OrderSource_ORDER_SOURCE_API, order.GetSource())
	require.Zero(t, order.GetVersion())
	require.Equal(t, "Mug", order.GetItems()[0].GetProductName())
	require.False(t, order.GetReceivedOutsideActiveHours())
	require.Equal(t, 123_456_000, order.GetCreatedAt().AsTime().Nanosecond(), "whole microseconds")

	t.Run("a read gives the same record", func(t *testing.T) {
		got, err := f.GetOrder(as(t, ""), &ordersv1.GetOrderRequest{OrderId: order.GetId()})
		require.NoError(t, err)
		require.True(t, proto.Equal(order, got.GetOrder()), "%v\n%v", order, got.GetOrder())
	})
	t.Run("the event holds the record as it was answered", func(t *testing.T) {
		var kind, subject string
		var data []byte
		var origin int32
		var occurredAt time.Time
		require.NoError(t, f.pool.QueryRow(t.Context(),
			"SELECT type, subject_id, data, origin_key_id, occurred_at FROM outbox").Scan(&kind, &subject, &data, &origin, &occurredAt))
		want, err := restjson.Marshal(order)
		require.NoError(t, err)
		require.Equal(t, "order.created", kind)
		require.Equal(t, order.GetId(), subject)
		require.JSONEq(t, string(want), string(data))
		require.EqualValues(t, 7, origin)
		require.Equal(t, order.GetUpdatedAt().AsTime(), occurredAt.UTC())
	})
	t.Run("personal data stands in the sealed column only", func(t *testing.T) {
		require.NotContains(t, order.String(), "Marked")
		for _, table := range []string{"orders", "outbox", "idempotency_answers"} {
			var row []byte
			require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT to_jsonb(x)::text::bytea FROM "+table+" x").Scan(&row))
			require.NotContains(t, string(bytes.ToLower(row)), "marked")
			require.NotContains(t, string(row), "70123")
		}
		var sealed []byte
		require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT details_sealed FROM orders").Scan(&sealed))
		plain, err := f.ring.Open(sealed, "orders.details_sealed/"+order.GetId())
		require.NoError(t, err)
		var details map[string]any
		require.NoError(t, json.Unmarshal(plain, &details))
		require.Equal(t, "+46701234567", details["recipient"].(map[string]any)["phone"])
	})
	t.Run("a repetition gets the same answer and places nothing", func(t *testing.T) {
		again, err := f.PlaceOrder(as(t, "k"), request("o-1"))
		require.NoError(t, err)
		require.True(t, proto.Equal(resp, again))
		require.Equal(t, 1, count(t, f.pool, "orders"))
		require.Equal(t, 1, count(t, f.pool, "outbox"))
	})
}

func TestApprovalAndHours(t *testing.T) {
	f := setup(t)
	f.tenants.settings.Tenant.ApprovalRequired = true
	f.now = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) // A Saturday.
	resp, err := f.PlaceOrder(as(t, "k"), request("o-1"))
	require.NoError(t, err)
	require.Equal(t, ordersv1.OrderStatus_ORDER_STATUS_REQUESTED, resp.GetOrder().GetStatus())
	require.True(t, resp.GetOrder().GetReceivedOutsideActiveHours())
}

func TestACustomRequest(t *testing.T) {
	f := setup(t)
	r := request("o-1")
	r.Items = []*ordersv1.OrderItemInput{{
		CustomProductName: proto.String("A signed ball"), Budget: &commonv1.Money{Amount: "9999999999.99", Currency: "SEK"},
	}}
	resp, err := f.PlaceOrder(as(t, "k"), r)
	require.NoError(t, err)
	item := resp.GetOrder().GetItems()[0]
	require.Equal(t, ordersv1.ItemKind_ITEM_KIND_CUSTOM, item.GetKind())
	require.Nil(t, item.ProductId)
	require.Equal(t, "A signed ball", item.GetProductName())
	var amount string
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT budget_amount::text FROM orders").Scan(&amount))
	require.Equal(t, "9999999999.99", amount)
}

func TestEverySemanticFault(t *testing.T) {
	type req = *ordersv1.PlaceOrderRequest
	for name, tc := range map[string]struct {
		spoil  func(f *fixture, r req)
		brands []string
		want   problem.Code
	}{
		"neither brand nor campaign": {func(_ *fixture, r req) { r.BrandId = nil }, nil, problem.BrandRequired},
		"a brand of nobody":          {func(_ *fixture, r req) { r.BrandId = proto.String(productID) }, nil, problem.BrandNotFound},
		"a brand out of reach":       {func(*fixture, req) {}, []string{otherBrand}, problem.BrandNotFound},
		"a fault the catalog finds": {func(f *fixture, _ req) {
			f.catalog.fault = problem.New(problem.NotDeliverableToCountry, "no")
		}, nil, problem.NotDeliverableToCountry},
		"a gift that cannot be customized, before its brand": {func(f *fixture, r req) {
			r.Customization, r.BrandId = &ordersv1.OrderCustomization{Details: "x"}, proto.String(productID)
			f.catalog.fault = problem.Invalid(problem.Violation{Field: "customization", Code: problem.FieldInvalid})
		}, nil, problem.InvalidRequest},
		"a required custom field": {func(f *fixture, _ req) {
			f.tenants.settings.Tenant.CustomFields = []*tenantsv1.CustomField{{Id: aMember, Label: "Cost centre", Required: true, Type: 1}}
		}, nil, problem.InvalidCustomFields},
		"a manager who is none": {func(_ *fixture, r req) { r.ManagerEmail = proto.String("no@example.com") }, nil, problem.ManagerNotFound},
		"no stock": {func(f *fixture, _ req) {
			f.catalog.check.Stocked = true
			f.catalog.reserve = problem.New(problem.OutOfStock, "none")
		}, nil, problem.OutOfStock},
	} {
		t.Run(name, func(t *testing.T) {
			f := setup(t)
			r := request("o-1")
			tc.spoil(f, r)
			_, err := f.PlaceOrder(as(t, "k", tc.brands...), r)
			require.True(t, problem.Is(err, tc.want), "%v", err)
			require.Zero(t, count(t, f.pool, "orders"))
			require.Zero(t, count(t, f.pool, "outbox"))
		})
	}
}

// TestOfSeveralFaultsTheFirstOfTheTableIsReported mends one fault after the other.
func TestOfSeveralFaultsTheFirstOfTheTableIsReported(t *testing.T) {
	f := setup(t)
	first, err := f.PlaceOrder(as(t, "first"), request("o-1"))
	require.NoError(t, err)
	r := request("o-1")
	r.CourierComment, r.ManagerEmail = proto.String(strings.Repeat("x", 501)), proto.String("no@example.com")
	r.BrandId = nil
	f.catalog.fault = problem.New(problem.InvalidVariations, "no")
	f.catalog.check.Stocked, f.catalog.reserve = true, problem.New(problem.OutOfStock, "none")
	field := &tenantsv1.CustomField{Id: fieldID, Label: "Cost centre", Required: true, Type: 1}
	f.tenants.settings.Tenant.CustomFields = []*tenantsv1.CustomField{field}
	for i, step := range []struct {
		want problem.Code
		mend func()
	}{
		{problem.InvalidRequest, func() { r.CourierComment = nil }},
		{problem.BrandRequired, func() { r.BrandId = proto.String(productID) }},
		{problem.BrandNotFound, func() { r.BrandId = proto.String(brandID) }},
		{problem.InvalidVariations, func() { f.catalog.fault = nil }},
		{problem.InvalidCustomFields, func() { field.Required = false }},
		{problem.ManagerNotFound, func() { r.ManagerEmail = nil }},
		{problem.OutOfStock, func() { f.catalog.reserve = nil }},
		{problem.ExternalOrderIDConflict, func() { r.ExternalOrderId = "o-2" }},
	} {
		_, err := f.PlaceOrder(as(t, fmt.Sprint("k", i)), proto.CloneOf(r))
		require.True(t, problem.Is(err, step.want), "wanted %s: %v", step.want, err)
		step.mend()
	}
	second, err := f.PlaceOrder(as(t, "last"), r)
	require.NoError(t, err)
	require.NotEqual(t, first.GetOrder().GetId(), second.GetOrder().GetId())
}

func TestAFaultOnlyTheCatalogKnowsIsReportedWithTheOthers(t *testing.T) {
	f := setup(t)
	f.catalog.fault = problem.Invalid(problem.Violation{Field: "customization", Code: problem.FieldInvalid, Message: "no"})
	r := request("")
	r.Customization = &ordersv1.OrderCustomization{Details: "x"}
	_, err := f.PlaceOrder(as(t, "k"), r)
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Len(t, p.Violations, 2)
	require.Equal(t, "externalOrderId", p.Violations[0].Field)
	require.Equal(t, "customization", p.Violations[1].Field)
}

func TestFaultsOfTheEdgeAreAnsweredWithTheRules(t *testing.T) {
	f := setup(t)
	ctx := caller.WithRequest(as(t, "k"), caller.Request{IdempotencyKey: "k", Violations: []problem.Violation{
		{Field: "urgent", Code: problem.FieldInvalid, Message: "must be a boolean"},
	}})
	r := request("")
	_, err := f.PlaceOrder(ctx, r)
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Len(t, p.Violations, 2)
	require.Equal(t, "urgent", p.Violations[0].Field)
	require.Equal(t, "externalOrderId", p.Violations[1].Field)
}

func TestAnExternalOrderIDIsTakenOnce(t *testing.T) {
	f := setup(t)
	first, err := f.PlaceOrder(as(t, "k1"), request("o-1"))
	require.NoError(t, err)
	_, err = f.PlaceOrder(as(t, "k2"), request("o-1"))
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, problem.ExternalOrderIDConflict, p.Code)
	require.Equal(t, first.GetOrder().GetId(), p.OrderID)

	t.Run("a key that cannot see the order is not told its id", func(t *testing.T) {
		r := request("o-1")
		r.BrandId = proto.String(otherBrand)
		_, err := f.PlaceOrder(as(t, "k3", otherBrand), r)
		p, ok := problem.As(err)
		require.True(t, ok)
		require.Equal(t, problem.ExternalOrderIDConflict, p.Code)
		require.Empty(t, p.OrderID)
	})
	t.Run("of many at once one is placed", func(t *testing.T) {
		var group errgroup.Group
		placed := make(chan string, 20)
		for i := range 20 {
			group.Go(func() error {
				resp, err := f.PlaceOrder(as(t, fmt.Sprint("many-", i)), request("o-2"))
				if problem.Is(err, problem.ExternalOrderIDConflict) {
					return nil
				}
				placed <- resp.GetOrder().GetId()
				return err
			})
		}
		require.NoError(t, group.Wait())
		require.Len(t, placed, 1)
		require.Equal(t, 2, count(t, f.pool, "outbox"))
	})
}

func TestStockIsNeverLeaked(t *testing.T) {
	stocked := func(t *testing.T) *fixture {
		f := setup(t)
		f.catalog.check = &catalogv1.CheckItemResponse{ProductName: "Mug", CampaignBrandId: brandID, Stocked: true}
		return f
	}
	campaign := func(externalID string) *ordersv1.PlaceOrderRequest {
		r := request(externalID)
		r.CampaignId, r.BrandId = proto.String(campaignID), nil
		return r
	}
	t.Run("a placed order keeps its unit", func(t *testing.T) {
		f := stocked(t)
		resp, err := f.PlaceOrder(as(t, "k"), campaign("o-1"))
		require.NoError(t, err)
		require.Equal(t, brandID, resp.GetOrder().GetBrandId())
		f.recovery.GiveUp(t.Context(), resp.GetOrder().GetId())
		require.Equal(t, []string{resp.GetOrder().GetId()}, f.catalog.confirmed)
		require.Empty(t, f.catalog.released)
	})
	t.Run("a conflict gives the unit back at once", func(t *testing.T) {
		f := stocked(t)
		_, err := f.PlaceOrder(as(t, "k1"), campaign("o-1"))
		require.NoError(t, err)
		_, err = f.PlaceOrder(as(t, "k2"), campaign("o-1"))
		require.True(t, problem.Is(err, problem.ExternalOrderIDConflict))
		require.Len(t, f.catalog.released, 1)
	})
	t.Run("an order given up cannot be placed any more", func(t *testing.T) {
		f := stocked(t)
		_, err := f.PlaceOrder(as(t, "k1"), campaign("o-1"))
		require.NoError(t, err)
		late := as(t, "k2")
		ahead := "0198f2e4-0000-7000-8000-0000000000ff"
		f.catalog.reserved[string(reservationKey(late, t))] = ahead
		f.recovery.GiveUp(t.Context(), ahead)
		_, err = f.PlaceOrder(late, campaign("o-2"))
		require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
		require.Equal(t, 1, count(t, f.pool, "orders"))
	})
}

func TestADatabaseFaultIsNoAnswer(t *testing.T) {
	f := setup(t)
	f.pool.Close()
	_, err := f.PlaceOrder(as(t, "k"), request("o-1"))
	require.Error(t, err)
	_, isProblem := errors.AsType[*problem.Error](err)
	require.False(t, isProblem)
}
