package server_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/reservations"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/server"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

const (
	tenantID   = "0198f2e4-0000-7000-8000-000000000001"
	brandID    = "0198f2e4-0000-7000-8000-000000000002"
	otherBrand = "0198f2e4-0000-7000-8000-000000000003"
	productID  = "0198f2e4-0000-7000-8000-000000000004"
	campaignID = "0198f2e4-0000-7000-8000-000000000005"
)

// directory answers with fixed settings: the tenants service is tested by itself.
type directory struct {
	tenantsv1.DirectoryServiceClient
	settings *tenantsv1.GetTenantSettingsResponse
}

func (d *directory) GetTenantSettings(
	context.Context, *tenantsv1.GetTenantSettingsRequest, ...grpc.CallOption,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	return d.settings, nil
}

// catalog answers checks as told and remembers what became of reservations.
type catalog struct {
	catalogv1.OrderingServiceClient
	check   *catalogv1.CheckItemResponse
	fault   error
	reserve error
	settle  error

	mu        sync.Mutex
	reserved  map[string]string
	confirmed []string
	released  []string
}

func (c *catalog) CheckItem(context.Context, *catalogv1.CheckItemRequest, ...grpc.CallOption) (*catalogv1.CheckItemResponse, error) {
	return c.check, c.fault
}

func (c *catalog) Reserve(_ context.Context, r *catalogv1.ReserveRequest, _ ...grpc.CallOption) (*catalogv1.ReserveResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.reserve != nil {
		return nil, c.reserve
	}
	key := string(r.GetReservationKey())
	if _, again := c.reserved[key]; !again {
		c.reserved[key] = r.GetOrderId()
	}
	return &catalogv1.ReserveResponse{OrderId: c.reserved[key]}, nil
}

func (c *catalog) ListExpiredReservations(
	context.Context, *catalogv1.ListExpiredReservationsRequest, ...grpc.CallOption,
) (*catalogv1.ListExpiredReservationsResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	resp := &catalogv1.ListExpiredReservationsResponse{}
	for _, id := range c.reserved {
		resp.OrderIds = append(resp.OrderIds, id)
	}
	return resp, nil
}

func (c *catalog) SettleReservations(
	_ context.Context, r *catalogv1.SettleReservationsRequest, _ ...grpc.CallOption,
) (*catalogv1.SettleReservationsResponse, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.settle != nil {
		return nil, c.settle
	}
	c.confirmed = append(c.confirmed, r.GetConfirmedOrderIds()...)
	c.released = append(c.released, r.GetReleasedOrderIds()...)
	return &catalogv1.SettleReservationsResponse{}, nil
}

type fixture struct {
	*server.Server
	pool     *pgxpool.Pool
	ring     *seal.Ring
	tenants  *directory
	catalog  *catalog
	recovery *reservations.Recovery
	now      time.Time
}

func setup(t *testing.T) *fixture {
	t.Helper()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	require.NoError(t, err)
	hours, err := rules.ParseOpeningHours("Mon-Fri 09:00-17:00", "UTC")
	require.NoError(t, err)
	f := &fixture{
		pool: pgtest.New(t, outbox.Migrations(), idempotency.Migrations(), store.Migrations()),
		ring: ring,
		tenants: &directory{settings: &tenantsv1.GetTenantSettingsResponse{
			Tenant: &tenantsv1.Tenant{Id: tenantID, Currency: "SEK"},
			Brands: []*tenantsv1.Brand{{Id: brandID}, {Id: otherBrand}},
			Team:   []*tenantsv1.TeamMember{{Id: aMember, Email: "ann@example.com", Active: true}},
		}},
		catalog: &catalog{check: &catalogv1.CheckItemResponse{ProductName: "Mug"}, reserved: map[string]string{}},
		now:     time.Date(2026, 11, 20, 12, 0, 0, 123_456_789, time.UTC),
	}
	orders := store.New(f.pool, ring)
	f.recovery = &reservations.Recovery{Store: orders, Catalog: f.catalog, Interval: time.Hour, Log: slog.New(slog.DiscardHandler)}
	f.Server = &server.Server{
		Store:   orders,
		Tenants: tenantcache.New(f.tenants),
		Catalog: f.catalog,
		GiveUp:  f.recovery.GiveUp,
		Release: f.recovery.Release,
		Hours:   hours,
		Clock:   func() time.Time { return f.now },
	}
	return f
}

const aMember = "0198f2e4-0000-7000-8000-000000000006"

// as is a request of a key that reaches the brands, or all of them when none is named.
func as(t *testing.T, idempotencyKey string, brands ...string) context.Context {
	t.Helper()
	p := caller.Principal{TenantID: tenantID, KeyID: 7, KeyName: "Shop", AllBrands: len(brands) == 0, BrandIDs: brands}
	ctx := caller.WithPrincipal(t.Context(), p)
	return caller.WithRequest(ctx, caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte(idempotencyKey), ID: "trace"})
}

func request(externalID string) *ordersv1.PlaceOrderRequest {
	return &ordersv1.PlaceOrderRequest{
		ExternalOrderId: externalID,
		BrandId:         proto.String(brandID),
		Items:           []*ordersv1.OrderItemInput{{ProductId: proto.String(productID), Variations: map[string]string{"Size": "M"}}},
		Client:          &ordersv1.OrderClient{Name: "Marked Client", Email: proto.String("marked-client@example.com")},
		Recipient: &ordersv1.OrderRecipient{
			Name: "Marked Recipient", Phone: "+46 70 123 45 67", Email: proto.String("marked-recipient@example.com"),
			Address: &ordersv1.OrderAddress{
				Street: "Marked Street 1", City: "Marked City", PostalCode: proto.String("11122"), Country: "SE",
			},
		},
		CourierComment: proto.String("Marked comment"), AdditionalDetails: proto.String("Marked note"),
	}
}

func count(t *testing.T, pool *pgxpool.Pool, table string) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// event is a row of the outbox.
type event struct {
	kind       string
	origin     int32
	occurredAt time.Time
	data       map[string]any
}

func lastEvent(t *testing.T, f *fixture) (e event) {
	t.Helper()
	var data []byte
	require.NoError(t, f.pool.QueryRow(t.Context(),
		"SELECT type, origin_key_id, occurred_at, data FROM outbox ORDER BY id DESC LIMIT 1",
	).Scan(&e.kind, &e.origin, &e.occurredAt, &data))
	require.NoError(t, json.Unmarshal(data, &e.data))
	e.occurredAt = e.occurredAt.UTC()
	return e
}
