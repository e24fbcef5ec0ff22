package server_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func TestOrdersAreFoundByTheirFields(t *testing.T) {
	t.Parallel()
	f := setupWithoutTwins(t).withApproval()
	start := f.clock
	var orders []*ordersv1.Order
	for range 5 {
		f.clock = f.clock.Add(time.Minute)
		orders = append(orders, f.placeInStatus(t, requestedStatus))
	}
	f.approve(t, orders[2].GetId())
	_, err := f.pool.Exec(t.Context(), "UPDATE orders SET tenant_id = $1, campaign_id = $2 WHERE id = $3",
		otherBrand, campaignID, orders[4].GetId())
	require.NoError(t, err)
	since := func(minutes int) *timestamppb.Timestamp {
		return timestamppb.New(start.Add(time.Duration(minutes) * time.Minute).Truncate(time.Microsecond))
	}
	tenant := new(tenantID)
	for name, tc := range map[string]struct {
		search *ordersv1.SearchOrdersRequest
		want   []int
	}{
		"of a tenant, the newest first": {&ordersv1.SearchOrdersRequest{TenantId: tenant}, []int{3, 2, 1, 0}},
		"by reference":                  {&ordersv1.SearchOrdersRequest{Reference: new(orders[1].GetReference())}, []int{1}},
		"by external id": {
			&ordersv1.SearchOrdersRequest{TenantId: tenant, ExternalOrderId: orders[3].ExternalOrderId}, []int{3},
		},
		"by status, of every tenant":   {&ordersv1.SearchOrdersRequest{Status: requestedStatus.Enum()}, []int{4, 3, 1, 0}},
		"by status, of a tenant":       {&ordersv1.SearchOrdersRequest{TenantId: tenant, Status: processingStatus.Enum()}, []int{2}},
		"by a reference of NUL":        {&ordersv1.SearchOrdersRequest{Reference: new("\x00")}, nil},
		"by a long reference":          {&ordersv1.SearchOrdersRequest{Reference: new(strings.Repeat("å", 5000))}, nil},
		"by an external id of no text": {&ordersv1.SearchOrdersRequest{TenantId: tenant, ExternalOrderId: new("\xff")}, nil},
		"by brand":                     {&ordersv1.SearchOrdersRequest{TenantId: tenant, BrandId: new(otherBrand)}, nil},
		"by campaign":                  {&ordersv1.SearchOrdersRequest{TenantId: new(otherBrand), CampaignId: new(campaignID)}, []int{4}},
		"by reference and campaign, of every tenant": {
			&ordersv1.SearchOrdersRequest{Reference: new(orders[4].GetReference()), CampaignId: new(campaignID)}, []int{4},
		},
		"by time": {&ordersv1.SearchOrdersRequest{
			TenantId: tenant, PlacedFrom: since(2), PlacedBefore: since(4),
		}, []int{2, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			for size := int32(1); size <= 5; size++ {
				tc.search.Actor = operator()
				require.Equal(t, tc.want, f.find(t, orders, tc.search, size))
			}
		})
	}
	t.Run("by a member of the team in the own tenant", func(t *testing.T) {
		require.Equal(t, []int{3, 2, 1, 0}, f.find(t, orders, &ordersv1.SearchOrdersRequest{
			Actor: person(aMember), TenantId: tenant,
		}, 100))
	})
}

// find reads all pages and returns the indexes of the found orders.
func (f *fixture) find(t *testing.T, orders []*ordersv1.Order, req *ordersv1.SearchOrdersRequest, size int32) (found []int) {
	t.Helper()
	req = proto.CloneOf(req)
	req.Limit = &size
	for {
		resp, err := f.SearchOrders(t.Context(), req)
		require.NoError(t, err)
		require.LessOrEqual(t, len(resp.GetOrders()), int(size))
		for _, hit := range resp.GetOrders() {
			for i, o := range orders {
				if o.GetId() == hit.GetOrder().GetId() {
					found = append(found, i)
					require.Equal(t, i == 4, hit.GetTenantId() != tenantID)
				}
			}
		}
		if req.After = resp.NextCursor; req.After == nil {
			return found
		}
	}
}

func TestInvalidSearchesAreRefused(t *testing.T) {
	t.Parallel()
	f := setupWithApproval(t)
	tenant := new(tenantID)
	for name, tc := range map[string]struct {
		search *ordersv1.SearchOrdersRequest
		want   problem.Code
	}{
		"without an actor":   {&ordersv1.SearchOrdersRequest{TenantId: tenant}, problem.InvalidRequest},
		"without any filter": {&ordersv1.SearchOrdersRequest{Actor: operator()}, problem.InvalidRequest},
		"of every tenant by the team": {
			&ordersv1.SearchOrdersRequest{Actor: person(aManager), Status: sentStatus.Enum()}, problem.InvalidRequest,
		},
		"by status and external id, of every tenant": {&ordersv1.SearchOrdersRequest{
			Actor: operator(), Status: sentStatus.Enum(), ExternalOrderId: new("o-1"),
		}, problem.InvalidRequest},
		"by status and brand, of every tenant": {&ordersv1.SearchOrdersRequest{
			Actor: operator(), Status: sentStatus.Enum(), BrandId: new(brandID),
		}, problem.InvalidRequest},
		"by status and campaign, of every tenant": {&ordersv1.SearchOrdersRequest{
			Actor: operator(), Status: sentStatus.Enum(), CampaignId: new(campaignID),
		}, problem.InvalidRequest},
		"of another tenant by the team": {&ordersv1.SearchOrdersRequest{Actor: person(newID()), TenantId: tenant}, problem.NotFound},
		"by a client":                   {&ordersv1.SearchOrdersRequest{Actor: aClient(), TenantId: tenant}, problem.InsufficientScope},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := f.SearchOrders(t.Context(), tc.search)
			require.True(t, problem.Is(err, tc.want), "%v", err)
		})
	}
	_, err := f.SearchOrders(t.Context(), &ordersv1.SearchOrdersRequest{
		Actor: operator(), TenantId: tenant, Status: ordersv1.OrderStatus(9).Enum(), BrandId: new("b"), After: new("x"),
		Limit: new(int32(101)), PlacedFrom: &timestamppb.Timestamp{Nanos: -1},
	})
	require.ElementsMatch(t,
		[]string{"status invalid", "brandId invalid", "after invalid", "limit invalid", "placedFrom invalid"}, violationsOf(t, err))
}
