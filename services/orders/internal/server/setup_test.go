package server_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/reservations"
	"github.com/partnergifting/platform/services/orders/internal/retention"
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

	aManager        = "0198f2e4-0000-7000-8000-000000000006"
	anAdministrator = "0198f2e4-0000-7000-8000-0000000000a1"
	aCoordinator    = "0198f2e4-0000-7000-8000-0000000000a2"
	aMember         = "0198f2e4-0000-7000-8000-0000000000a3"
	operatorName    = "The Operator"
	theKey          = 7

	requestedStatus  = ordersv1.OrderStatus_ORDER_STATUS_REQUESTED
	processingStatus = ordersv1.OrderStatus_ORDER_STATUS_PROCESSING
	sentStatus       = ordersv1.OrderStatus_ORDER_STATUS_SENT
	completedStatus  = ordersv1.OrderStatus_ORDER_STATUS_COMPLETED
	cancelledStatus  = ordersv1.OrderStatus_ORDER_STATUS_CANCELLED
)

// fixture is a server with its own database and a tenant that has a team and two brands.
type fixture struct {
	*server.Server
	pool         *pgxpool.Pool
	ring         *seal.Ring
	store        *store.Store
	tenants      *tenantstest.Directory
	settings     int64 // Version of the tenant's settings.
	catalog      *catalog
	reservations *reservations.Reconciler
	log          *slog.Logger
	logged       *bytes.Buffer
	clock        time.Time
	deps         server.Deps
	config       server.Config
	woken        atomic.Int32
}

// setup makes a fixture in which every row has a twin of another tenant.
func setup(t *testing.T) *fixture {
	t.Helper()
	f := setupWithoutTwins(t)
	pgtest.Twin(t, f.pool, map[string]string{
		"orders": "twin.reference := 'T' || NEW.reference; twin.brand_id := gen_random_uuid(); " +
			"twin.version := NEW.version + 1000;",
		"order_messages": "twin.body_sealed := NULL; twin.body_bytes := 0;",
		"sandbox_paces":  "twin.due_at := NEW.due_at + interval '1 hour';",
		"order_audit":    "twin.id := gen_random_uuid(); twin.actor_id := 'twin';",
	})
	return f
}

// setupWithoutTwins is for tests with SQL of their own, which counts or changes the rows of all tenants.
func setupWithoutTwins(t *testing.T) *fixture {
	t.Helper()
	ring, err := seal.ParseRing("k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))))
	require.NoError(t, err)
	hours, err := rules.ParseOpeningHours("Mon-Fri 09:00-17:00", "UTC")
	require.NoError(t, err)
	f := &fixture{
		pool: pgtest.New(t, outbox.Migrations(), idempotency.Migrations(), store.Migrations()),
		ring: ring,
		tenants: tenantstest.NewDirectory(t, &tenantstest.Settings{
			Tenant: &tenantsv1.Tenant{Id: tenantID, Currency: "SEK"},
			Brands: []*tenantsv1.Brand{{Id: brandID}, {Id: otherBrand}},
			Team: []*tenantsv1.TeamMember{
				{Id: aManager, Email: "ann@example.com", Active: true},
				{Id: anAdministrator, Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true},
				{Id: aCoordinator, Role: tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, Active: true},
				{Id: aMember, Role: tenantsv1.TeamRole_TEAM_ROLE_MEMBER, Active: true},
			},
		}),
		catalog: newCatalog(),
		logged:  &bytes.Buffer{},
		// Just before midnight: a minute later it is another day.
		clock: time.Date(2026, 11, 20, 23, 59, 59, 900_456_789, time.UTC),
	}
	f.store, f.log = store.New(f.pool, ring, sealtest.Writer(t, eventKeys)), slog.New(slog.NewTextHandler(f.logged, nil))
	f.reservations = reservations.New(reservations.Deps{Store: f.store, Catalog: f.catalog, Log: f.log})
	f.deps = server.Deps{
		Store: f.store, Tenants: tenants.NewCache(f.tenants.Client, identity.Cell{}), Catalog: f.catalog, Reservations: f.reservations,
		Clock: func() time.Time { return f.clock },
	}
	f.config = server.Config{Hours: hours, OperatorName: operatorName}
	f.Server = server.New(f.deps, f.config)
	return f
}

// inSandbox makes the fixture a server of the sandbox. woken counts how often it has placed an order that advances by itself.
func (f *fixture) inSandbox() *fixture {
	f.deps.WakeAutoAdvance, f.config.Sandbox = func() { f.woken.Add(1) }, true
	f.Server = server.New(f.deps, f.config)
	return f
}

// eventKeys seal the events.
var eventKeys = sealtest.Keys("a")

// setupWithApproval is setup for a tenant whose orders wait for approval.
func setupWithApproval(t *testing.T) *fixture {
	t.Helper()
	return setup(t).withApproval()
}

func (f *fixture) withApproval() *fixture {
	f.changeTenant(func(s *tenantsv1.Tenant) { s.ApprovalRequired = true })
	return f
}

func (f *fixture) changeTenant(change func(s *tenantsv1.Tenant)) {
	f.settings = f.tenants.ChangeTenant(tenantID, func(s *tenantstest.Settings) { change(s.GetTenant()) })
}

// keyContext is the context of a request by a key for the brands, or for all if none is named.
func (f *fixture) keyContext(t *testing.T, idempotencyKey string, brands ...string) context.Context {
	t.Helper()
	p := caller.Principal{
		TenantID: tenantID, TenantVersion: f.settings, KeyID: theKey, KeyName: "Shop", AllBrands: len(brands) == 0, BrandIDs: brands,
	}
	ctx := caller.WithPrincipal(t.Context(), p)
	return caller.WithRequest(ctx, caller.Request{IdempotencyKey: idempotencyKey, Fingerprint: []byte(idempotencyKey), ID: "trace"})
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func request(externalID string) *ordersv1.PlaceOrderRequest {
	return &ordersv1.PlaceOrderRequest{
		ExternalOrderId: externalID,
		BrandId:         new(brandID),
		Items:           []*ordersv1.OrderItemInput{{ProductId: new(productID), Variations: map[string]string{"Size": "M"}}},
		Client:          &ordersv1.OrderClient{Name: "Marked Client", Email: new("marked-client@example.com")},
		Recipient: &ordersv1.OrderRecipient{
			Name: "Marked Recipient", Phone: "+46 70 123 45 67", Email: new("marked-recipient@example.com"),
			Address: &ordersv1.OrderAddress{Street: "Marked Street 1", City: "Marked City", PostalCode: new("11122"), Country: "SE"},
		},
		CourierComment: new("Marked comment"), AdditionalDetails: new("Marked note"),
	}
}

// campaignRequest is an order of a gift that takes a unit of stock.
func campaignRequest(externalID string) *ordersv1.PlaceOrderRequest {
	r := request(externalID)
	r.CampaignId, r.BrandId = new(campaignID), nil
	return r
}

func (f *fixture) placeOne(t *testing.T, externalID string) *ordersv1.Order {
	t.Helper()
	resp, err := f.PlaceOrder(f.keyContext(t, "place "+externalID), request(externalID))
	require.NoError(t, err)
	return resp.GetOrder()
}

// campaignOrder places an order that holds a unit.
func (f *fixture) campaignOrder(t *testing.T) *ordersv1.Order {
	t.Helper()
	resp, err := f.PlaceOrder(f.keyContext(t, newID()), campaignRequest(newID()))
	require.NoError(t, err)
	return resp.GetOrder()
}

// read returns the order as a key sees it.
func (f *fixture) read(t *testing.T, id string) *ordersv1.Order {
	t.Helper()
	resp, err := f.GetOrder(f.keyContext(t, ""), &ordersv1.GetOrderRequest{OrderId: id})
	require.NoError(t, err)
	return resp.GetOrder()
}

func (f *fixture) count(t *testing.T, table string) (n int) {
	t.Helper()
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
	return n
}

// sweep runs the retention as if it were the given time: the lag moves its limits.
func (f *fixture) sweep(t *testing.T, at time.Time, cfg retention.Config) error {
	t.Helper()
	return retention.New(f.store, cfg).Sweep(t.Context(), time.Since(at))
}

// event is a row of the outbox, opened.
type event struct {
	kind, subject string
	origin        int32
	data          []byte
}

func (f *fixture) events(t *testing.T) (all []event) {
	t.Helper()
	rows, err := f.pool.Query(t.Context(),
		"SELECT type, subject_id, origin_key_id, data, tenant_id, event_id FROM outbox ORDER BY id")
	require.NoError(t, err)
	var e event
	var ref seal.EventRef
	var sealed []byte
	reader := sealtest.Reader(t, eventKeys)
	_, err = pgx.ForEachRow(rows, []any{&e.kind, &e.subject, &e.origin, &sealed, &ref.TenantID, &ref.EventID}, func() (err error) {
		e.data, err = reader.Open(t.Context(), ref, sealed)
		all = append(all, e)
		return err
	})
	require.NoError(t, err)
	return all
}

func (f *fixture) lastEvent(t *testing.T) event {
	t.Helper()
	all := f.events(t)
	return all[len(all)-1]
}

// eventsOf lists the types of an order's events.
func (f *fixture) eventsOf(t *testing.T, id string) (types []string) {
	t.Helper()
	for _, e := range f.events(t) {
		if e.subject == id {
			types = append(types, e.kind)
		}
	}
	return types
}

// violationsOf returns the violations of an invalid_request as "field code".
func violationsOf(t *testing.T, err error) (found []string) {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	for _, v := range p.Violations {
		found = append(found, v.Field+" "+v.Code)
	}
	return found
}
