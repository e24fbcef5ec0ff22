package gateway_test

import (
	"context"
	"encoding/binary"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// backend stands for the services behind the edge: the edge is what is tested here.
type backend struct {
	ordersv1.UnimplementedOrdersServiceServer
	tenantsv1.UnimplementedTenantsServiceServer
	tenantsv1.UnimplementedDirectoryServiceServer
	webhookv1.UnimplementedWebhookServiceServer
	catalogv1.UnimplementedImagesServiceServer

	addr     string
	tenantID string
	scopes   []commonv1.Scope
	version  atomic.Int64
	// revoked and bare are keys, by their hash: those that were revoked, and those without a scope.
	revoked, bare sync.Map
	seen          caller.Request
	headers       metadata.MD
	// lookup is what the look-up of the idempotency key finds, before the request is read; fault is
	// what the rules find after it.
	lookup, fault error
	// hold, if not nil, is waited for while an order is placed.
	hold func()
	// replayed says that the look-up finds the answer.
	replayed bool
	ran      atomic.Int32
	images   imageStore
	register register
}

func startBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{
		addr:     freeAddr(t),
		tenantID: uuid.NewString(),
		scopes:   []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
	}
	b.version.Store(1)
	server := rpc.NewServer(rpc.Config{Addr: b.addr}, telemetry.Discard(), ordersv1.OrdersService_PlaceOrder_FullMethodName)
	ordersv1.RegisterOrdersServiceServer(server, b)
	tenantsv1.RegisterTenantsServiceServer(server, b)
	tenantsv1.RegisterDirectoryServiceServer(server, b)
	webhookv1.RegisterWebhookServiceServer(server, b)
	catalogv1.RegisterImagesServiceServer(server, b)
	commonv1.RegisterIdempotencyRegisterServiceServer(server, &b.register)
	run(t, server.Run)
	return b
}

// revoke ends a key as the tenants service does: the directory refuses it, and the tenant has a
// newer version.
func (b *backend) revoke(t *testing.T, key string) {
	t.Helper()
	b.revoked.Store(string(apikey.Hash(key)), true)
	publishVersion(t, b.tenantID, b.version.Add(1))
}

// withoutScopes makes a key that has none.
func (b *backend) withoutScopes() string {
	key := apikey.New(apikey.Sandbox)
	b.bare.Store(string(apikey.Hash(key)), true)
	return key
}

// keyID makes a number of a key's hash, so that each key has its own limit.
func keyID(hash []byte) int32 {
	return int32(binary.BigEndian.Uint32(hash) >> 1)
}

func (b *backend) ResolveKey(_ context.Context, req *tenantsv1.ResolveKeyRequest) (*tenantsv1.ResolveKeyResponse, error) {
	hash := req.GetKeyHash()
	if _, revoked := b.revoked.Load(string(hash)); revoked {
		return nil, problem.RecordNotFound()
	}
	p := &commonv1.Principal{
		TenantId: b.tenantID, KeyId: keyID(hash),
		Scopes: b.scopes, AllBrands: true, TenantVersion: b.version.Load(),
	}
	if _, bare := b.bare.Load(string(hash)); bare {
		p.Scopes = nil
	}
	return &tenantsv1.ResolveKeyResponse{Principal: p}, nil
}

func (b *backend) PlaceOrder(ctx context.Context, req *ordersv1.PlaceOrderRequest) (*ordersv1.PlaceOrderResponse, error) {
	b.ran.Add(1)
	if b.hold != nil {
		b.hold()
	}
	b.seen = caller.RequestFrom(ctx)
	b.headers, _ = metadata.FromIncomingContext(ctx)
	if b.lookup != nil {
		return nil, b.lookup
	}
	if b.replayed {
		_ = grpc.SetHeader(ctx, metadata.Pairs(caller.ReplayedHeader, "true"))
	}
	errs := fields.FromContext(ctx)
	errs.Required("externalOrderId", req.GetExternalOrderId(), 128)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if b.fault != nil {
		return nil, b.fault
	}
	return &ordersv1.PlaceOrderResponse{Order: &ordersv1.Order{Id: "an-order", ExternalOrderId: proto.String(req.GetExternalOrderId())}}, nil
}

func (b *backend) ListOrders(context.Context, *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	b.ran.Add(1)
	return &ordersv1.ListOrdersResponse{}, nil
}

func (b *backend) GetMe(context.Context, *tenantsv1.GetMeRequest) (*tenantsv1.GetMeResponse, error) {
	return &tenantsv1.GetMeResponse{Environment: "sandbox"}, nil
}

func (b *backend) ListBrands(context.Context, *tenantsv1.ListBrandsRequest) (*tenantsv1.ListBrandsResponse, error) {
	return &tenantsv1.ListBrandsResponse{}, nil
}

func (b *backend) TestWebhook(context.Context, *webhookv1.TestWebhookRequest) (*webhookv1.TestWebhookResponse, error) {
	b.register.note("run")
	return &webhookv1.TestWebhookResponse{}, b.fault
}
