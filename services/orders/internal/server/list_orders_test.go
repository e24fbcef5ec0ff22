package server_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/page/pagetest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// placeMany places n orders, a second apart, the last of them under the other brand.
func (f *fixture) placeMany(t *testing.T, n int) (ids []string) {
	t.Helper()
	for i := range n {
		f.clock = f.clock.Add(time.Second)
		r := request(fmt.Sprint("o-", i))
		r.ExternalRecipientId = new(fmt.Sprint("player-", i%2))
		if i == n-1 {
			r.BrandId = new(otherBrand)
		}
		resp, err := f.PlaceOrder(f.keyContext(t, fmt.Sprint("place-", i)), r)
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

func TestListsAreNewestFirstAndTheirPagesHaveNoGap(t *testing.T) {
	t.Parallel()
	f := setup(t)
	placed := f.placeMany(t, 7)
	var got []string
	req := &ordersv1.ListOrdersRequest{Limit: new(int32(2))}
	for {
		resp, err := f.ListOrders(f.keyContext(t, ""), req)
		require.NoError(t, err)
		got = append(got, ids(resp.GetItems())...)
		if resp.NextCursor == nil {
			break
		}
		req.After = resp.NextCursor
		// An order placed meanwhile comes before the first page and changes no later one.
		f.clock = f.clock.Add(time.Second)
		_, err = f.PlaceOrder(f.keyContext(t, "late-"+resp.GetNextCursor()), request("late-"+resp.GetNextCursor()))
		require.NoError(t, err)
	}
	for i := range placed {
		require.Equal(t, placed[len(placed)-1-i], got[i])
	}
	require.Len(t, got, len(placed))
}

func TestFilters(t *testing.T) {
	t.Parallel()
	f := setup(t)
	placed := f.placeMany(t, 5)
	for name, tc := range map[string]struct {
		req    *ordersv1.ListOrdersRequest
		brands []string
		want   []string
	}{
		"by a long external id":  {&ordersv1.ListOrdersRequest{ExternalOrderId: new(strings.Repeat("å", 5000))}, nil, nil},
		"by a recipient of NUL":  {&ordersv1.ListOrdersRequest{ExternalRecipientId: new("player-1\x00")}, nil, nil},
		"by part of a recipient": {&ordersv1.ListOrdersRequest{ExternalRecipientId: new("player")}, nil, nil},
		"by change": {
			&ordersv1.ListOrdersRequest{UpdatedSince: timestamppb.New(f.clock.Truncate(time.Microsecond))}, nil, []string{placed[4]},
		},
		"a brand out of reach":   {&ordersv1.ListOrdersRequest{BrandId: new(brandID)}, []string{otherBrand}, nil},
		"a key limited to brand": {&ordersv1.ListOrdersRequest{}, []string{otherBrand}, []string{placed[4]}},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := f.ListOrders(f.keyContext(t, "", tc.brands...), tc.req)
			require.NoError(t, err)
			require.Equal(t, tc.want, ids(resp.GetItems()))
		})
	}
}

func TestErrorsOfAListAreReportedTogether(t *testing.T) {
	t.Parallel()
	f := setup(t)
	_, err := f.ListOrders(f.keyContext(t, ""), &ordersv1.ListOrdersRequest{
		After: new("nonsense"), Limit: new(int32(101)), BrandId: new("x"),
	})
	require.ElementsMatch(t, []string{"after invalid", "limit invalid", "brandId invalid"}, violationsOf(t, err))
}

func TestEachFilterFiltersAndBindsTheCursor(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeMany(t, 3)
	one := &ordersv1.ListOrdersRequest{Limit: new(int32(1))}
	pagetest.RequireBound(t, one, func(req *ordersv1.ListOrdersRequest) (string, error) {
		resp, err := f.ListOrders(f.keyContext(t, ""), req)
		return resp.GetNextCursor(), err
	}, nil)
	pagetest.EachFilter(t, &ordersv1.ListOrdersRequest{}, func(t *testing.T, req *ordersv1.ListOrdersRequest) {
		resp, err := f.ListOrders(f.keyContext(t, ""), req)
		require.NoError(t, err)
		require.Empty(t, resp.GetItems())
	})
}

func TestEachFilterOfASearchFiltersAndBindsTheCursor(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeMany(t, 3)
	base := &ordersv1.SearchOrdersRequest{Actor: operator(), TenantId: new(tenantID), Limit: new(int32(1))}
	pagetest.RequireBound(t, base, func(req *ordersv1.SearchOrdersRequest) (string, error) {
		resp, err := f.SearchOrders(t.Context(), req)
		return resp.GetNextCursor(), err
	}, nil)
	pagetest.EachFilter(t, base, func(t *testing.T, req *ordersv1.SearchOrdersRequest) {
		resp, err := f.SearchOrders(t.Context(), req)
		require.NoError(t, err)
		require.Empty(t, resp.GetOrders())
	})
}
