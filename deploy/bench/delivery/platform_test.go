package delivery_test

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/segmentio/kafka-go"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/pkg/daemon"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	postgresVariable = "GIFTING_TEST_POSTGRES_URL"
	kafkaVariable    = "GIFTING_TEST_KAFKA_BROKERS"
)

// platform is a running stack with databases, topic and ports of its own.
type platform struct {
	env        map[string]string
	cfg        local.Config
	operations tenantsv1.TenantOperationsServiceClient
}

func start(b *testing.B) *platform {
	b.Helper()
	daemon.CollectLess() // As the programs of the platform do.
	suffix := make([]byte, 6)
	_, err := rand.Read(suffix)
	require.NoError(b, err)
	cfg := local.Config{
		Dir: b.TempDir(), PortBase: 12_000 + mathrand.IntN(18_000), Name: "bench_" + hex.EncodeToString(suffix),
		PostgresURL: os.Getenv(postgresVariable),
	}
	require.NotEmpty(b, cfg.PostgresURL, "set %s or run by `make`", postgresVariable)
	b.Cleanup(func() { dropDatabases(b, cfg) })
	if brokers := os.Getenv(kafkaVariable); brokers != "" {
		cfg.KafkaBrokers = strings.Split(brokers, ",")
		b.Cleanup(func() { dropTopic(b, cfg) })
	}
	stack, err := local.Start(b.Context(), cfg)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, stack.Stop(context.WithoutCancel(b.Context()))) })
	p := &platform{env: stack.Env, cfg: cfg}
	p.operations = tenantsv1.NewTenantOperationsServiceClient(p.dial(b, "GIFTING_GRPC_TENANTS"))
	return p
}

func dropTopic(b *testing.B, cfg local.Config) {
	b.Helper()
	client := &kafka.Client{Addr: kafka.TCP(cfg.KafkaBrokers...)}
	_, err := client.DeleteTopics(context.WithoutCancel(b.Context()), &kafka.DeleteTopicsRequest{Topics: []string{cfg.Topic()}})
	require.NoError(b, err)
}

func dropDatabases(b *testing.B, cfg local.Config) {
	b.Helper()
	ctx := context.WithoutCancel(b.Context())
	conn, err := pgx.Connect(ctx, cfg.PostgresURL)
	require.NoError(b, err)
	defer func() { _ = conn.Close(ctx) }()
	for _, name := range local.Databases(cfg.Name) {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		require.NoError(b, err)
	}
	_, err = conn.Exec(ctx, "DROP ROLE IF EXISTS "+local.RelayRole(cfg.Name))
	require.NoError(b, err)
}

func (p *platform) dial(b *testing.B, variable string) *local.Conn {
	b.Helper()
	conn, err := local.Dial(p.env, variable)
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, conn.Close()) })
	return conn
}

// database connects to a service's database as its owner.
func (p *platform) database(b *testing.B, service string) *pgxpool.Pool {
	b.Helper()
	at, err := url.Parse(p.cfg.PostgresURL)
	require.NoError(b, err)
	at.Path = "/" + p.cfg.Name + "_" + service
	query := at.Query()
	query.Set("pool_max_conns", "16")
	at.RawQuery = query.Encode()
	pool, err := pgxpool.New(b.Context(), at.String())
	require.NoError(b, err)
	b.Cleanup(pool.Close)
	return pool
}

// tenant has one brand, and one key with a webhook or none.
type tenant struct {
	id, brand string
	key       int32
	secret    string
}

// tenants makes tenants whose keys have the addresses as their webhooks; an empty address is none.
func (p *platform) tenants(b *testing.B, webhooks []string) []tenant {
	b.Helper()
	made := make([]tenant, len(webhooks))
	for i, webhook := range webhooks {
		t := tenant{id: uuid.NewString(), brand: uuid.NewString()}
		_, err := p.operations.PutTenant(b.Context(), &tenantsv1.PutTenantRequest{
			Id: t.id, Name: "Benchmark", Currency: "SEK", ApiAccess: true,
		})
		require.NoError(b, err)
		_, err = p.operations.PutBrand(b.Context(), &tenantsv1.PutBrandRequest{
			TenantId: t.id, Brand: &tenantsv1.Brand{Id: t.brand, Name: "Benchmark", Slug: "benchmark"},
		})
		require.NoError(b, err)
		request := &tenantsv1.CreateKeyRequest{
			TenantId: t.id, Name: "benchmark", Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}, AllBrands: true,
		}
		if webhook != "" {
			request.WebhookUrl = proto.String(webhook)
		}
		key, err := p.operations.CreateKey(b.Context(), request)
		require.NoError(b, err)
		t.key, t.secret = key.GetKey().GetId(), key.GetWebhookSecret()
		made[i] = t
	}
	return made
}
