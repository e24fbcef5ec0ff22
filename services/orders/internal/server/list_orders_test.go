package server_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func reservationKey(ctx context.Context, t *testing.T) []byte {
	t.Helper()
	r, ok := idempotency.FromContext(ctx)
	require.True(t, ok)
	return r.ReservationKey()
}

// place puts n orders in, a second apart, the last of them under the other brand.
func place(t *testing.T, f *fixture, n int) (ids []string) {
	t.Helper()
	for i := range n {
		f.now = f.now.Add(time.Second)
		r := request(fmt.Sprint("o-", i))
		r.ExternalRecipientId = proto.String(fmt.Sprint("player-", i%2))
		if i == n-1 {
			r.BrandId = proto.String(otherBrand)
		}
		resp, err := f.PlaceOrder(as(t, fmt.Sprint("place-", i)), r)
		require.NoError(t, err)
		ids = append(ids, resp.GetOrder().GetId())
	}
	return ids
}

func ids(orders []*ordersv1.Order) (out []string) {
	for _, o := range orders {
		out = append(out, o.GetId())
	}
	return out
}

func TestListsAreNewestFirstAndPageWithoutGap(t *testing.T) {
	f := setup(t)
	placed := place(t, f, 7)
	var got []string
	req := &ordersv1.ListOrdersRequest{Limit: proto.Int32(2)}
	for {
		resp, err := f.ListOrders(as(t, ""), req)
		require.NoError(t, err)
		got = append(got, ids(resp.GetItems())...)
		if resp.NextCursor == nil {
			break
		}
		req.After = resp.NextCursor
		// An order placed meanwhile stands before the first page and changes none that follows.
		f.now = f.now.Add(time.Second)
		_, err = f.PlaceOrder(as(t, "late-"+resp.GetNextCursor()), request("late-"+resp.GetNextCursor()))
		require.NoError(t, err)
	}
	for i := range placed {
		require.Equal(t, placed[len(placed)-1-i], got[i])
	}
	require.Len(t, got, len(placed))
}

func TestFilters(t *testing.T) {
	f := setup(t)
	placed := place(t, f, 5)
	requested := ordersv1.OrderStatus_ORDER_STATUS_REQUESTED
	for name, tc := range map[string]struct {
		req    *ordersv1.ListOrdersRequest
		brands []string
		want   []string
	}{
		"by external order id":   {&ordersv1.ListOrdersRequest{ExternalOrderId: proto.String("o-2")}, nil, []string{placed[2]}},
		"by recipient":           {&ordersv1.ListOrdersRequest{ExternalRecipientId: proto.String("player-1")}, nil, []string{placed[3], placed[1]}},
		"by brand":               {&ordersv1.ListOrdersRequest{BrandId: proto.String(otherBrand)}, nil, []string{placed[4]}},
		"by status":              {&ordersv1.ListOrdersRequest{Status: &requested}, nil, nil},
		"by change":              {&ordersv1.ListOrdersRequest{UpdatedSince: timestamppb.New(f.now.Truncate(time.Microsecond))}, nil, []string{placed[4]}},
		"a brand out of reach":   {&ordersv1.ListOrdersRequest{BrandId: proto.String(brandID)}, []string{otherBrand}, nil},
		"a key limited to brand": {&ordersv1.ListOrdersRequest{}, []string{otherBrand}, []string{placed[4]}},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := f.ListOrders(as(t, "", tc.brands...), tc.req)
			require.NoError(t, err)
			require.Equal(t, tc.want, ids(resp.GetItems()))
		})
	}
}

func TestFaultsOfAListAreReportedTogether(t *testing.T) {
	f := setup(t)
	_, err := f.ListOrders(as(t, ""), &ordersv1.ListOrdersRequest{
		After: proto.String("nonsense"), Limit: proto.Int32(101), BrandId: proto.String("x"),
	})
	p, ok := problem.As(err)
	require.True(t, ok)
	var found []string
	for _, v := range p.Violations {
		found = append(found, v.Field)
	}
	require.ElementsMatch(t, []string{"after", "limit", "brandId"}, found)
}

func TestACursorBelongsToItsFilters(t *testing.T) {
	f := setup(t)
	place(t, f, 3)
	resp, err := f.ListOrders(as(t, ""), &ordersv1.ListOrdersRequest{Limit: proto.Int32(1)})
	require.NoError(t, err)
	_, err = f.ListOrders(as(t, ""), &ordersv1.ListOrdersRequest{After: resp.NextCursor, ExternalOrderId: proto.String("o-1")})
	require.True(t, problem.Is(err, problem.InvalidRequest))
}

func TestOrdersOfOthersDoNotExist(t *testing.T) {
	f := setup(t)
	placed := place(t, f, 1)
	for name, ctx := range map[string]context.Context{
		"another tenant": caller.WithPrincipal(t.Context(), caller.Principal{TenantID: productID, AllBrands: true}),
		"another brand":  as(t, "", brandID),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.GetOrder(ctx, &ordersv1.GetOrderRequest{OrderId: placed[0]})
			require.True(t, problem.Is(err, problem.NotFound))
			resp, err := f.ListOrders(ctx, &ordersv1.ListOrdersRequest{})
			require.NoError(t, err)
			require.Empty(t, resp.GetItems())
		})
	}
	_, err := f.GetOrder(as(t, ""), &ordersv1.GetOrderRequest{OrderId: "no-uuid"})
	require.True(t, problem.Is(err, problem.NotFound))
}
