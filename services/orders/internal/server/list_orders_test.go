package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/page/pagetest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestEachFilterFiltersAndBindsTheCursor(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeOne(t, "o-1")
	f.placeOne(t, "o-2")
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

func TestNoOrderIsListedThatChangedBeforeTheInstant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	changed := f.placeOne(t, "o-1").GetUpdatedAt().AsTime()
	for since, want := range map[time.Time]int{changed: 1, changed.Add(time.Nanosecond): 0} {
		resp, err := f.ListOrders(f.keyContext(t, ""), &ordersv1.ListOrdersRequest{UpdatedSince: timestamppb.New(since)})
		require.NoError(t, err)
		require.Len(t, resp.GetItems(), want, since)
	}
}

func TestEachFilterOfASearchFiltersAndBindsTheCursor(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.placeOne(t, "o-1")
	f.placeOne(t, "o-2")
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
