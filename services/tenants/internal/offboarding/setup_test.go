package offboarding_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/offboarding"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// fixture has a tenant, another one, and two services that store data of both in databases of their own.
type fixture struct {
	t             *testing.T
	pool          *pgxpool.Pool
	store         *store.Store
	tenant, other string
	rows          int // Of a tenant, in each service.
	services      []*service
}

// moreThanABatch is how many rows of a tenant are not erased in one transaction.
const moreThanABatch = 1001

func setup(t *testing.T) *fixture {
	t.Helper()
	return setupWith(t, moreThanABatch)
}

func setupWith(t *testing.T, rows int) *fixture {
	t.Helper()
	f := &fixture{t: t, rows: rows}
	f.pool = pgtest.New(t, store.Migrations(), idempotency.Migrations(), daemon.RetentionClockMigrations())
	f.store = store.New(f.pool)
	for range 2 {
		f.services = append(f.services, newService(t))
	}
	f.other = f.newTenant()
	// The other one is off-boarded too, and waits for something.
	_, err := f.services[1].pool.Exec(t.Context(),
		`UPDATE things SET open = true WHERE id = (SELECT id FROM things WHERE tenant_id = $1 LIMIT 1)`, f.other)
	require.NoError(t, err)
	_, err = f.store.Offboard(t.Context(), f.other, someone(), -time.Hour)
	require.NoError(t, err)
	f.renew()
	return f
}

func operator() store.Authorization {
	return store.Authorization{Actor: someone(), Needs: caller.Permission{Operator: true}}
}

// newTenant makes a tenant with rows in all services.
func (f *fixture) newTenant() string {
	f.t.Helper()
	id := uuid.NewString()
	_, _, err := f.store.PutTenant(f.t.Context(), operator(), &tenantsv1.Tenant{
		Id: id, Name: "n", Locales: []string{"en-US"}, Currency: "EUR",
	}, true, "")
	require.NoError(f.t, err)
	_, err = f.store.PutBrand(f.t.Context(), id, operator(), &tenantsv1.Brand{Id: uuid.NewString(), Name: "same", Slug: "same"})
	require.NoError(f.t, err)
	keyID := pgtest.Value[int32](f.t, f.pool, `
		INSERT INTO api_keys (tenant_id, hash, prefix, name, scopes, all_brands, brand_ids, webhook_secret)
		VALUES ($1, sha256($2::text::bytea), 'p', 'same', '{}', true, '{}', '') RETURNING id`, id, id)
	for _, s := range f.services {
		s.write(id, f.rows)
		pgtest.Exec(f.t, s.pool, `INSERT INTO answers (tenant_id, key_id) VALUES ($1, $2)`, id, keyID)
	}
	return id
}

// renew makes the tenant that the test off-boards another one, and the services count their calls anew.
func (f *fixture) renew() {
	f.t.Helper()
	f.tenant = f.newTenant()
	for _, s := range f.services {
		s.calls.Store(0)
		s.failAt, s.hookAt = 0, 0
	}
}

// service stores rows of tenants. It fails before or after a call, or calls hook before it, if set.
type service struct {
	t    *testing.T
	pool *pgxpool.Pool
	data *tenants.ExportServer

	calls          atomic.Int64
	failAt, hookAt int
	failAfterward  bool
	hook           func()
}

var errCrash = errors.New("crash")

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{t: t, pool: pgtest.New(t)}
	pgtest.Exec(t, s.pool, `
		CREATE TABLE things (tenant_id uuid, id uuid DEFAULT gen_random_uuid(), open boolean DEFAULT false);
		CREATE TABLE answers (tenant_id uuid, key_id int);
		CREATE TABLE audit (tenant_id uuid, id uuid DEFAULT gen_random_uuid())`)
	s.data = &tenants.ExportServer{Database: tenants.Database{
		Pool: s.pool, Tables: []tenants.Table{
			{Name: "things", Key: []string{"id uuid"}},
			{Name: "answers", Key: []string{"key_id int"}, ByKey: true},
			{Name: "audit", Key: []string{"id uuid"}, Kept: "audit"},
		},
		InFlight: []string{`SELECT count(*) FROM things WHERE tenant_id = $1 AND open`},
	}}
	return s
}

func (s *service) write(tenantID string, rows int) {
	s.t.Helper()
	_, err := s.pool.Exec(s.t.Context(), `INSERT INTO things (tenant_id) SELECT $1 FROM generate_series(1, $2::int)`, tenantID, rows)
	require.NoError(s.t, err)
	pgtest.Exec(s.t, s.pool, `INSERT INTO audit (tenant_id) VALUES ($1)`, tenantID)
}

func (s *service) rows(tenantID string) int {
	s.t.Helper()
	return s.count("things", tenantID)
}

func (s *service) count(table, tenantID string) int {
	s.t.Helper()
	return pgtest.Value[int](s.t, s.pool, `SELECT count(*) FROM `+table+` WHERE tenant_id = $1`, tenantID)
}

// called runs a call, unless it fails before it. A call that fails after it has had its effect.
func called[T any](s *service, call func() (T, error)) (none T, err error) {
	number := int(s.calls.Add(1))
	fails := number == s.failAt
	if number == s.hookAt {
		s.hook()
	}
	if fails && !s.failAfterward {
		return none, errCrash
	}
	out, err := call()
	if fails {
		return none, errCrash
	}
	return out, err
}

func (s *service) CountTenant(
	ctx context.Context, req *privacyv1.CountTenantRequest, _ ...grpc.CallOption,
) (*privacyv1.CountTenantResponse, error) {
	return called(s, func() (*privacyv1.CountTenantResponse, error) { return s.data.CountTenant(ctx, req) })
}

func (s *service) ExportTenant(
	ctx context.Context, req *privacyv1.ExportTenantRequest, _ ...grpc.CallOption,
) (*privacyv1.ExportTenantResponse, error) {
	return called(s, func() (*privacyv1.ExportTenantResponse, error) { return s.data.ExportTenant(ctx, req) })
}

func (s *service) EraseTenant(
	ctx context.Context, req *privacyv1.EraseTenantRequest, _ ...grpc.CallOption,
) (*privacyv1.EraseTenantResponse, error) {
	return called(s, func() (*privacyv1.EraseTenantResponse, error) { return s.data.EraseTenant(ctx, req) })
}

func (f *fixture) worker() *offboarding.Worker {
	f.t.Helper()
	return f.workerOn(f.pool)
}

// workerOn is a worker with connections of its own.
func (f *fixture) workerOn(pool *pgxpool.Pool) *offboarding.Worker {
	f.t.Helper()
	w, err := offboarding.New(offboarding.Deps{
		Store: store.New(pool), Own: store.TenantData(pool), Log: telemetry.Discard().Logger,
		Holders: func(context.Context) ([]offboarding.Holder, error) {
			return []offboarding.Holder{{Name: identity.Orders, Data: f.services[0]}, {Name: identity.Webhook, Data: f.services[1]}}, nil
		},
	}, telemetry.Discard())
	require.NoError(f.t, err)
	return w
}

func someone() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "ada"}
}

// offboard off-boards the tenant, whose grace period has been over for an hour.
func (f *fixture) offboard() {
	f.t.Helper()
	_, err := f.store.Offboard(f.t.Context(), f.tenant, someone(), -time.Hour)
	require.NoError(f.t, err)
}

// now makes the off-boarding due for an attempt.
func (f *fixture) now() {
	f.t.Helper()
	pgtest.Exec(f.t, f.pool, `UPDATE offboardings SET next_attempt_at = now() WHERE tenant_id = $1`, f.tenant)
}

func (f *fixture) state() *tenantsv1.Offboarding {
	f.t.Helper()
	o, err := f.store.Offboarding(f.t.Context(), f.tenant)
	require.NoError(f.t, err)
	require.Equal(f.t, f.tenant, o.GetTenantId())
	return o
}

// requireErased checks that nothing of the tenant is left, that the report proves it, and that the other tenant has everything.
func (f *fixture) requireErased() {
	f.t.Helper()
	o := f.state()
	require.Equal(f.t, tenantsv1.OffboardingState_OFFBOARDING_STATE_ERASED, o.GetState())
	for i, s := range f.services {
		require.Zero(f.t, s.rows(f.tenant))
		require.Equal(f.t, f.rows, s.rows(f.other))
		require.Zero(f.t, s.count("answers", f.tenant))
		require.Equal(f.t, 1, s.count("answers", f.other), "what names only a key of the other tenant")
		name := []string{"orders", "webhook"}[i]
		for _, table := range o.GetReport() {
			if table.GetService() == name && table.GetTable() == "things" {
				require.EqualValues(f.t, f.rows, table.GetRowsBefore(), "what was there before anything was erased")
			}
		}
	}
	for _, table := range o.GetReport() {
		require.NotNil(f.t, table.RowsAfter, table)
		if table.GetKept() == "" {
			require.Zero(f.t, table.GetRowsAfter(), table)
		}
	}
	require.Len(f.t, o.GetReport(), 2*3+13)
	_, err := f.store.Settings(f.t.Context(), f.tenant)
	require.ErrorIs(f.t, err, store.ErrNotFound)
	settings, err := f.store.Settings(f.t.Context(), f.other)
	require.NoError(f.t, err)
	require.Len(f.t, settings.GetBrands(), 1)
	waiting, err := f.store.Offboarding(f.t.Context(), f.other)
	require.NoError(f.t, err)
	require.Equal(f.t, tenantsv1.OffboardingState_OFFBOARDING_STATE_DISABLED, waiting.GetState())
	require.Empty(f.t, waiting.GetReport())
	require.Len(f.t, waiting.GetSteps(), 1)
	require.Nil(f.t, waiting.GetCheckedAt())
	_, _, err = f.store.PutTenant(f.t.Context(), operator(), &tenantsv1.Tenant{
		Id: f.tenant, Name: "n", Locales: []string{"en-US"}, Currency: "EUR",
	}, true, "")
	require.ErrorIs(f.t, err, store.ErrOffboarded, "its id never comes back")
}
