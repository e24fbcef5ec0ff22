package gatewaytest

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/pkg/testenv"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	webhookv1 "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"
)

// GiftToken is the token of the only personal link, unless Services.Token is another one.
const GiftToken = "Q2hvb3NlLWEtZ2lmdC10b2" //nolint:gosec // Of a test.

// orderID is the id of every order.
const orderID = "an-order"

// Services are fakes of the services behind the gateway, all on one address. Set their fields between requests only.
type Services struct {
	ordersv1.UnimplementedOrdersServiceServer
	ordersv1.UnimplementedSandboxOrdersServiceServer
	tenantsv1.UnimplementedTenantsServiceServer
	webhookv1.UnimplementedWebhookServiceServer
	catalogv1.UnimplementedImagesServiceServer
	linksv1.UnimplementedGiftSiteServiceServer
	commonv1.UnimplementedIdempotencyRegisterServiceServer

	Feed Feed
	// Directory resolves keys and lists cells.
	Directory *Directory

	TenantID string
	// Token is that of the only personal link, and Image the id of the only image.
	Token, Image string
	// Scopes are the scopes of new keys.
	Scopes []commonv1.Scope
	// Seen and Headers are the request and the headers of the last POST to the orders service.
	Seen    caller.Request
	Headers metadata.MD
	// LookUp is the result of looking up the Idempotency-Key, before the request is validated. Failure is the result after it.
	LookUp, Failure error
	// Replayed means that the look-up finds a stored response.
	Replayed bool
	// Cursor, if not empty, is the cursor of every page of orders.
	Cursor string
	// Hold, if not nil, is called while an order is placed or validated, a key is claimed, an image is read or a gift page is made.
	Hold func()
	// Calls counts calls of the orders service, ImageContents the images whose content was read.
	Calls, ImageContents atomic.Int32
	// ClaimFailure is the result of claiming an Idempotency-Key, Claim the last claim and Released the last release.
	ClaimFailure error
	Claim        *commonv1.ClaimKeyRequest
	Released     *commonv1.ReleaseKeyRequest
	// GiftFailure is the result of every call of the gift site.
	GiftFailure atomic.Pointer[problem.Error]

	addr    string
	version atomic.Int64
	// place is where the tenant is.
	place atomic.Pointer[place]
	// revoked and unscoped are hashes of keys.
	revoked, unscoped sync.Map
	giftDraft         atomic.Value
	mu                sync.Mutex
	notes             []string
}

// NewServices starts the services. They end with the test.
func NewServices(t *testing.T) *Services {
	t.Helper()
	s := &Services{
		addr: testenv.FreeAddr(t), TenantID: uuid.NewString(), Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS},
		Token: GiftToken, Image: "known",
	}
	s.Feed.tenantID = s.TenantID
	s.version.Store(1)
	s.place.Store(&place{cell: identity.HomeCell})
	s.Directory = &Directory{Directory: tenantstest.NewDirectory(t)}
	s.Directory.SetKeys(s.resolve)
	server, err := rpc.NewServer(rpc.Config{Addr: s.addr}, telemetry.Discard(),
		ordersv1.OrdersService_PlaceOrder_FullMethodName, ordersv1.OrdersService_ValidateOrder_FullMethodName,
		ordersv1.OrdersService_CancelOrder_FullMethodName, ordersv1.SandboxOrdersService_ApproveSandboxOrder_FullMethodName,
		eventsv1.EventsService_ListEvents_FullMethodName)
	require.NoError(t, err)
	ordersv1.RegisterOrdersServiceServer(server, s)
	ordersv1.RegisterSandboxOrdersServiceServer(server, s)
	tenantsv1.RegisterTenantsServiceServer(server, s)
	tenantsv1.RegisterDirectoryServiceServer(server, s.Directory)
	webhookv1.RegisterWebhookServiceServer(server, s)
	eventsv1.RegisterEventsServiceServer(server, &s.Feed)
	eventsv1.RegisterFeedNoticesServiceServer(server, &s.Feed)
	catalogv1.RegisterImagesServiceServer(server, s)
	linksv1.RegisterGiftSiteServiceServer(server, s)
	commonv1.RegisterIdempotencyRegisterServiceServer(server, s)
	run(t, server.Run)
	return s
}

// Revoke revokes a key as the tenants service does: the directory no longer knows it, and the tenant has a newer version.
func (s *Services) Revoke(t *testing.T, key string) {
	t.Helper()
	s.revoked.Store(string(apikey.Hash(key)), true)
	s.publish(t)
}

// publish makes a new version of the tenant, which gateways find in Redis.
func (s *Services) publish(t *testing.T) {
	t.Helper()
	version := fmt.Sprintf("gifting:tenant-version:{%s}", s.TenantID)
	opts, err := redis.ParseURL(testenv.Require(t, testenv.RedisURL))
	require.NoError(t, err)
	client := redis.NewClient(opts)
	t.Cleanup(func() { _ = client.Close() })
	require.NoError(t, client.Set(t.Context(), version, s.version.Add(1), time.Minute).Err())
}

// UnscopedKey makes a key without scopes.
func (s *Services) UnscopedKey() string {
	key := apikey.New(apikey.Sandbox)
	s.unscoped.Store(string(apikey.Hash(key)), true)
	return key
}

// KeyID is the id of an API key.
func (*Services) KeyID(key string) int32 { return keyID(apikey.Hash(key)) }

// keyID is computed from the hash, so that each key has its own limit.
func keyID(hash []byte) int32 {
	return int32(binary.BigEndian.Uint32(hash) >> 1)
}

func (s *Services) resolve(hash []byte) *commonv1.Principal {
	if _, revoked := s.revoked.Load(string(hash)); revoked {
		return nil
	}
	p := &commonv1.Principal{
		TenantId: s.TenantID, KeyId: keyID(hash), Scopes: s.Scopes, AllBrands: true, TenantVersion: s.version.Load(),
		Cell: s.place.Load().cell, Moving: s.place.Load().moving,
	}
	if _, unscoped := s.unscoped.Load(string(hash)); unscoped {
		p.Scopes = nil
	}
	return p
}

// PlaceOrder implements OrdersService.
func (s *Services) PlaceOrder(ctx context.Context, req *ordersv1.PlaceOrderRequest) (*ordersv1.PlaceOrderResponse, error) {
	s.Calls.Add(1)
	s.hold()
	s.Seen = caller.RequestFrom(ctx)
	s.Headers, _ = metadata.FromIncomingContext(ctx)
	if s.LookUp != nil {
		return nil, s.LookUp
	}
	if s.Replayed {
		_ = grpc.SetHeader(ctx, metadata.Pairs(caller.ReplayedHeader, "true"))
	}
	errs := caller.RequestErrors(ctx)
	errs.Required("externalOrderId", req.GetExternalOrderId(), 128)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if s.Failure != nil {
		return nil, s.Failure
	}
	return &ordersv1.PlaceOrderResponse{
		Order: &ordersv1.Order{Id: orderID, ExternalOrderId: proto.String(req.GetExternalOrderId())},
	}, nil
}

func (s *Services) hold() {
	if s.Hold != nil {
		s.Hold()
	}
}

// Refused is the Idempotency-Key of a request that a service refuses.
const Refused = "refused"

// ApproveSandboxOrder implements SandboxOrdersService.
func (s *Services) ApproveSandboxOrder(
	ctx context.Context, req *ordersv1.ApproveSandboxOrderRequest,
) (*ordersv1.ApproveSandboxOrderResponse, error) {
	if err := caller.RequestErrors(ctx).Err(); err != nil {
		return nil, err
	}
	if caller.RequestFrom(ctx).IdempotencyKey == Refused {
		return nil, problem.New(problem.NotEditable, "The order was sent.")
	}
	return &ordersv1.ApproveSandboxOrderResponse{Order: &ordersv1.Order{Id: req.GetOrderId()}}, nil
}

// ValidateOrder implements OrdersService.
func (s *Services) ValidateOrder(ctx context.Context, _ *ordersv1.PlaceOrderRequest) (*ordersv1.ValidateOrderResponse, error) {
	s.hold()
	s.Seen = caller.RequestFrom(ctx)
	resp := &ordersv1.ValidateOrderResponse{}
	for _, v := range s.Seen.Violations {
		resp.Problems = append(resp.Problems, &ordersv1.OrderProblem{Code: v.Code, Detail: v.Field})
	}
	return resp, s.Failure
}

// CancelOrder implements OrdersService.
func (s *Services) CancelOrder(ctx context.Context, _ *ordersv1.CancelOrderRequest) (*ordersv1.CancelOrderResponse, error) {
	s.Seen = caller.RequestFrom(ctx)
	if err := caller.RequestErrors(ctx).Err(); err != nil {
		return nil, err
	}
	return &ordersv1.CancelOrderResponse{Order: &ordersv1.Order{Id: orderID}}, s.Failure
}

// GetOrder implements OrdersService. There is one order.
func (s *Services) GetOrder(ctx context.Context, req *ordersv1.GetOrderRequest) (*ordersv1.GetOrderResponse, error) {
	if req.GetOrderId() != orderID {
		return s.UnimplementedOrdersServiceServer.GetOrder(ctx, req)
	}
	return &ordersv1.GetOrderResponse{Order: &ordersv1.Order{Id: orderID}}, s.Failure
}

// ListOrders implements OrdersService.
func (s *Services) ListOrders(ctx context.Context, r *ordersv1.ListOrdersRequest) (*ordersv1.ListOrdersResponse, error) {
	s.Calls.Add(1)
	if err := caller.RequestErrors(ctx).Err(); err != nil {
		return nil, err
	}
	resp := &ordersv1.ListOrdersResponse{}
	if s.Cursor != "" {
		resp.NextCursor = proto.String(s.Cursor)
	}
	if r.After != nil && r.GetAfter() != s.Cursor {
		return nil, problem.Internal() // The gateway must not pass this on.
	}
	return resp, nil
}

// GetMe implements TenantsService.
func (s *Services) GetMe(context.Context, *tenantsv1.GetMeRequest) (*tenantsv1.GetMeResponse, error) {
	return &tenantsv1.GetMeResponse{Environment: "sandbox"}, nil
}

// ListBrands implements TenantsService.
func (s *Services) ListBrands(context.Context, *tenantsv1.ListBrandsRequest) (*tenantsv1.ListBrandsResponse, error) {
	return &tenantsv1.ListBrandsResponse{}, nil
}

// TestWebhook implements WebhookService.
func (s *Services) TestWebhook(context.Context, *webhookv1.TestWebhookRequest) (*webhookv1.TestWebhookResponse, error) {
	s.note("call")
	return &webhookv1.TestWebhookResponse{}, s.Failure
}

// GetImage implements ImagesService.
func (s *Services) GetImage(_ context.Context, r *catalogv1.GetImageRequest) (*catalogv1.GetImageResponse, error) {
	s.hold()
	if r.GetFileId() != s.Image {
		return nil, problem.RecordNotFound()
	}
	resp := &catalogv1.GetImageResponse{ContentType: "image/png", Digest: "d1", Size: 5}
	if !r.GetHeadOnly() {
		s.ImageContents.Add(1)
		resp.Content = []byte("bytes")
	}
	return resp, nil
}

// GetClaimPage implements GiftSiteService.
func (s *Services) GetClaimPage(_ context.Context, r *linksv1.GetClaimPageRequest) (*linksv1.GetClaimPageResponse, error) {
	s.hold()
	if err := s.GiftFailure.Load(); err != nil {
		return nil, err
	}
	if r.GetToken() != s.Token {
		return nil, problem.RecordNotFound()
	}
	return &linksv1.GetClaimPageResponse{
		State: linksv1.ClaimState_CLAIM_STATE_OPEN, Locale: "en-US",
		Gifts: []*linksv1.ClaimGift{{ProductId: "truffles", Name: "Dark truffles", Countries: []string{"SE"}}},
	}, nil
}

// GetPreviewPage implements GiftSiteService. The page is that of the link.
func (s *Services) GetPreviewPage(ctx context.Context, _ *linksv1.GetPreviewPageRequest) (*linksv1.GetPreviewPageResponse, error) {
	page, err := s.GetClaimPage(ctx, &linksv1.GetClaimPageRequest{Token: s.Token})
	return &linksv1.GetPreviewPageResponse{Page: page}, err
}

// GetClaimDraft implements GiftSiteService. There is one draft.
func (s *Services) GetClaimDraft(context.Context, *linksv1.GetClaimDraftRequest) (*linksv1.GetClaimDraftResponse, error) {
	draft, _ := s.giftDraft.Load().(*linksv1.ClaimDraft)
	return &linksv1.GetClaimDraftResponse{State: linksv1.ClaimState_CLAIM_STATE_OPEN, Draft: draft}, nil
}

// SaveClaimDraft implements GiftSiteService. It does not check the recipient.
func (s *Services) SaveClaimDraft(_ context.Context, r *linksv1.SaveClaimDraftRequest) (*linksv1.SaveClaimDraftResponse, error) {
	if err := s.GiftFailure.Load(); err != nil {
		return nil, err
	}
	draft := &linksv1.ClaimDraft{
		Version: 1, Gift: &linksv1.ClaimChoiceOfGift{ProductId: "truffles"}, Recipient: r.GetRecipient(), Answer: r.GetAnswer(),
	}
	s.giftDraft.Store(draft)
	return &linksv1.SaveClaimDraftResponse{State: linksv1.ClaimState_CLAIM_STATE_OPEN, Draft: draft}, nil
}

// ClaimKey implements IdempotencyRegisterService.
func (s *Services) ClaimKey(_ context.Context, req *commonv1.ClaimKeyRequest) (*commonv1.ClaimKeyResponse, error) {
	s.note("claim")
	s.hold()
	s.Claim = req
	return &commonv1.ClaimKeyResponse{}, s.ClaimFailure
}

// ReleaseKey implements IdempotencyRegisterService.
func (s *Services) ReleaseKey(_ context.Context, req *commonv1.ReleaseKeyRequest) (*commonv1.ReleaseKeyResponse, error) {
	s.Released = req
	s.note("release " + req.GetIdempotencyKey() + " " + base64.StdEncoding.EncodeToString(req.GetFingerprint()))
	return &commonv1.ReleaseKeyResponse{}, nil
}

func (s *Services) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, what)
}

// Notes returns and clears the record of claims and releases of Idempotency-Keys, and of calls of the webhook service.
func (s *Services) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	notes := s.notes
	s.notes = nil
	return notes
}
