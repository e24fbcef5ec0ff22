package tenants_test

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants"
)

var staff = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7"}

func config(t *testing.T) tenants.Config {
	t.Helper()
	return tenants.Config{
		RPC:         rpc.Config{Addr: testenv.FreeAddr(t)},
		Database:    postgres.Config{URL: pgtest.NewURL(t)},
		Environment: apikey.Sandbox,
		// The service is ready while the others are away.
		Peers: tenants.Peers{
			CatalogAddr: "127.0.0.1:1", OrdersAddr: "127.0.0.1:1", PersonalLinksAddr: "127.0.0.1:1",
			EventsAddr: "127.0.0.1:1", WebhookAddr: "127.0.0.1:1",
		},
		SealKeys: "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))),
	}
}

// A key that has leaked must leave the ring.
func TestAfterReencryptTheServiceStartsWithoutTheOldSealKey(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	old := cfg.SealKeys
	next := "k2:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("b", 32)))
	require.NoError(t, tenants.Program().Migrate(t.Context(), cfg, io.Discard))
	var made *tenantsv1.CreateKeyResponse
	var rotated *tenantsv1.RotateWebhookSecretResponse
	serving(t, cfg, func(conn *grpc.ClientConn) {
		ops, id := tenantsv1.NewTenantOperationsServiceClient(conn), uuid.NewString()
		_, err := ops.PutTenant(t.Context(), &tenantsv1.PutTenantRequest{
			Actor: staff, Id: id, Name: "n", Currency: "EUR", ApiAccess: true,
		})
		require.NoError(t, err)
		url := "https://hooks.example.com/gifts"
		made, err = ops.CreateKey(t.Context(), &tenantsv1.CreateKeyRequest{Actor: staff, TenantId: id, Name: "k", WebhookUrl: &url})
		require.NoError(t, err)
		rotated, err = ops.RotateWebhookSecret(t.Context(), &tenantsv1.RotateWebhookSecretRequest{
			Actor: staff, TenantId: id, KeyId: made.GetKey().GetId(), Overlap: durationpb.New(time.Hour),
		})
		require.NoError(t, err)
	})

	cfg.SealKeys = next
	require.Contains(t, readiness(t, cfg), "api_keys.webhook_secret")
	cfg.SealKeys = next + "," + old
	require.NoError(t, tenants.Reencrypt(t.Context(), cfg, io.Discard))
	cfg.SealKeys = next
	require.Empty(t, readiness(t, cfg))
	serving(t, cfg, func(conn *grpc.ClientConn) {
		endpoints, err := tenantsv1.NewDirectoryServiceClient(conn).GetEndpoints(t.Context(),
			&tenantsv1.GetEndpointsRequest{KeyIds: []int32{made.GetKey().GetId()}})
		require.NoError(t, err)
		require.Equal(t, rotated.GetWebhookSecret(), endpoints.GetEndpoints()[0].GetSecret())
		require.Equal(t, made.GetWebhookSecret(), endpoints.GetEndpoints()[0].GetPreviousSecret())
	})
	requireKeyNowhere(t, cfg.Database.URL, "k1")
}

// requireKeyNowhere reads every column of bytes of the database.
func requireKeyNowhere(t *testing.T, database, keyID string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	rows, _ := conn.Query(t.Context(), `
SELECT format('SELECT count(*) FROM %I WHERE substring(%I FOR %s) = %L', table_name, column_name, $1::int, $2::bytea)
FROM information_schema.columns WHERE table_schema = 'public' AND data_type = 'bytea'`,
		len(keyID)+1, append([]byte{byte(len(keyID))}, keyID...))
	counts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NotEmpty(t, counts)
	for _, sql := range counts {
		require.Zero(t, pgtest.Value[int](t, conn, sql), sql)
	}
}

func readiness(t *testing.T, cfg tenants.Config) (reason string) {
	t.Helper()
	return sealtest.Readiness(t, func(tel *telemetry.Telemetry) (*service.Service, error) {
		return tenants.New(t.Context(), cfg, tel)
	})
}

// serving runs the service while use runs.
func serving(t *testing.T, cfg tenants.Config, use func(conn *grpc.ClientConn)) {
	t.Helper()
	service, err := tenants.New(t.Context(), cfg, telemetry.Discard())
	require.NoError(t, err)
	stop := testenv.Run(t, service.Run)
	conn, err := rpc.Dial(rpc.Target{Addr: cfg.RPC.Addr}, telemetry.Discard())
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, err := healthpb.NewHealthClient(conn).Check(t.Context(), &healthpb.HealthCheckRequest{})
		return err == nil
	}, 30*time.Second, 20*time.Millisecond)
	use(conn)
	require.NoError(t, conn.Close())
	stop()
}

func TestNewRefusesAnInvalidConfiguration(t *testing.T) {
	t.Parallel()
	good := config(t)
	for name, c := range map[string]struct {
		change func(cfg *tenants.Config)
		want   error
	}{
		"loopback webhooks in production": {func(cfg *tenants.Config) {
			cfg.Environment, cfg.AllowLoopbackWebhooks = apikey.Production, true
		}, tenants.ErrLoopbackWebhooks},
		"an unknown environment": {func(cfg *tenants.Config) { cfg.Environment = "staging" }, apikey.ErrEnvironment},
		"no seal keys":           {func(cfg *tenants.Config) { cfg.SealKeys = "" }, nil},
		"a broken Redis URL":     {func(cfg *tenants.Config) { cfg.RedisURL = "http://x" }, nil},
		"a database that does not exist": {func(cfg *tenants.Config) {
			cfg.Database.URL = "postgres://nobody@127.0.0.1:1/x"
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := good
			c.change(&cfg)
			_, err := tenants.New(t.Context(), cfg, telemetry.Discard())
			require.Error(t, err)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
		})
	}
}
