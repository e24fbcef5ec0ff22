// Package server is the gRPC face of orders: it decodes, authorizes and decides each call.
package server

import (
	"context"
	"time"

	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// Server implements the public plane of orders.
type Server struct {
	ordersv1.UnimplementedOrdersServiceServer

	Store   *store.Store
	Tenants *tenantcache.Cache
	Catalog catalogv1.OrderingServiceClient
	// GiveUp returns the stock held for an order that will not be placed.
	GiveUp func(ctx context.Context, orderID string)
	// Release returns the stock of an order that was cancelled, by the id of its hold.
	Release func(ctx context.Context, hold string)
	Hours   *rules.OpeningHours
	Clock   func() time.Time
}

// now is the clock as orders keep it.
func (s *Server) now() time.Time { return rules.Now(s.Clock) }

// Collectors are the methods that report the edge's field faults with their own.
func Collectors() []string {
	return []string{
		ordersv1.OrdersService_PlaceOrder_FullMethodName,
		ordersv1.OrdersService_ListOrders_FullMethodName,
		ordersv1.OrdersService_UpdateDelivery_FullMethodName,
		ordersv1.OrdersService_CancelOrder_FullMethodName,
		ordersv1.OrdersService_PostOrderMessage_FullMethodName,
	}
}
