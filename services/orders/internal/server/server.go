// Package server implements the gRPC methods of orders. Each method decodes and authorizes the call, applies the rules and
// commits.
package server

import (
	"time"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/orders/internal/reservations"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// Server implements the gRPC services of orders: OrdersService acts for API keys, OrderOperationsService for persons and
// systems, ClaimsService for personal links, and PersonalDataService for people who want their data exported or erased.
// SandboxOrdersService does for API keys what persons do, in the sandbox only.
type Server struct {
	ordersv1.UnimplementedOrdersServiceServer
	ordersv1.UnimplementedOrderOperationsServiceServer
	ordersv1.UnimplementedClaimsServiceServer
	ordersv1.UnimplementedSandboxOrdersServiceServer
	privacyv1.UnimplementedPersonalDataServiceServer

	Deps
	Config
}

// Deps are what a server works with.
type Deps struct {
	Store        *store.Store
	Tenants      *tenants.Cache
	Catalog      catalogv1.OrderingServiceClient
	Reservations *reservations.Reconciler
	Clock        func() time.Time
	// WakeAutoAdvance is called after an order was placed that advances by itself. Nil outside the sandbox.
	WakeAutoAdvance func()
}

// Config of a server.
type Config struct {
	Cell identity.Cell
	// Hours are when the service operator works.
	Hours *rules.OpeningHours
	// OperatorName signs what the operator's team writes.
	OperatorName string
	// Sandbox means that keys do what people do, and that orders may advance by themselves.
	Sandbox bool
}

// New makes a server.
func New(deps Deps, cfg Config) *Server { return &Server{Deps: deps, Config: cfg} }

// now is the current time in the precision of orders.
func (s *Server) now() time.Time { return rules.Now(s.Clock) }

// Collectors are the methods that report the gateway's field errors together with their own.
func Collectors() []string {
	return []string{
		ordersv1.OrdersService_PlaceOrder_FullMethodName,
		ordersv1.OrdersService_ValidateOrder_FullMethodName,
		ordersv1.OrdersService_ListOrders_FullMethodName,
		ordersv1.OrdersService_UpdateDelivery_FullMethodName,
		ordersv1.OrdersService_CancelOrder_FullMethodName,
		ordersv1.OrdersService_PostOrderMessage_FullMethodName,
		ordersv1.SandboxOrdersService_ApproveSandboxOrder_FullMethodName,
		ordersv1.SandboxOrdersService_DispatchSandboxOrder_FullMethodName,
		ordersv1.SandboxOrdersService_DeliverSandboxOrder_FullMethodName,
		ordersv1.SandboxOrdersService_CorrectSandboxTracking_FullMethodName,
		ordersv1.SandboxOrdersService_CorrectSandboxStatus_FullMethodName,
		ordersv1.SandboxOrdersService_PostSandboxMessage_FullMethodName,
	}
}
