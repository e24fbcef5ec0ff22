package orders_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/seal/sealtest"
	"github.com/partnergifting/platform/pkg/service"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/orders"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

func config(t *testing.T) orders.Config {
	t.Helper()
	return orders.Config{
		Database:    postgres.Config{URL: pgtest.NewURL(t)},
		SealKeys:    "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
		EventKeys:   sealtest.Keys("a"),
		TenantsAddr: "127.0.0.1:1", CatalogAddr: "127.0.0.1:1",
	}
}

func TestReencryptNeedsOnlyTheDatabaseAndTheKeys(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.TenantsAddr, cfg.CatalogAddr = "", ""
	require.NoError(t, orders.Program().Migrate(t.Context(), cfg, io.Discard))
	var out bytes.Buffer
	require.NoError(t, orders.Reencrypt(t.Context(), cfg, &out))
	require.Equal(t, `checked 0 of about 0 orders, re-encrypted 0 values
checked 0 of about 0 order_messages, re-encrypted 0 values
`, out.String())

	cfg.SealKeys = "k1"
	require.ErrorIs(t, orders.Reencrypt(t.Context(), cfg, &out), seal.ErrRing)
}

// With an incomplete ring an order would be taken that cannot be delivered.
func TestNoOrderIsTakenWithAnIncompleteKeyRing(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	require.NoError(t, orders.Program().Migrate(t.Context(), cfg, io.Discard))
	storeSealedOrder(t, cfg)
	require.Empty(t, readiness(t, cfg))
	cfg.SealKeys = "k2:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("n", 32)))
	reason := readiness(t, cfg)
	for _, column := range []string{"orders.details_sealed", "order_messages.body_sealed"} {
		require.Contains(t, reason, column+` has values sealed with key "k1", but the ring lacks the key`)
	}
}

// storeSealedOrder stores an order, sealed with the keys of the configuration.
func storeSealedOrder(t *testing.T, cfg orders.Config) {
	t.Helper()
	ring, err := seal.ParseRing(cfg.SealKeys)
	require.NoError(t, err)
	id := uuid.NewString()
	conn, err := pgx.Connect(t.Context(), cfg.Database.URL)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	_, err = conn.Exec(t.Context(), `INSERT INTO orders (tenant_id, id, reference, external_order_id, source, brand_id, status,
  item_kind, product_name, budget_amount, budget_currency, delivery_country, received_outside_active_hours, details_sealed,
  created_at, updated_at)
VALUES ($1, $1, 'r', 'e', 'API', $1, 'REQUESTED', 'CUSTOM', 'Cup', 10, 'SEK', 'SE', false, $2, now(), now())`,
		id, ring.Seal([]byte(`{}`), store.SealedColumns()[0].Columns[0].AssociatedData(id)))
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `INSERT INTO order_messages
  (tenant_id, order_id, id, author_kind, author_id, author_name, body_sealed, body_bytes, created_at)
VALUES ($1, $1, $1, 'SYSTEM', '', '', $2, 5, now())`,
		id, ring.Seal([]byte("Hello"), store.SealedColumns()[1].Columns[0].AssociatedData(id)))
	require.NoError(t, err)
}

func readiness(t *testing.T, cfg orders.Config) (reason string) {
	t.Helper()
	cfg.RPC.Addr = testenv.FreeAddr(t)
	return sealtest.Readiness(t, func(tel *telemetry.Telemetry) (*service.Service, error) {
		return orders.New(t.Context(), cfg, tel)
	})
}

// Requests to other services wait for the register, so the register must not wait for connections that orders use.
func TestTheRegisterAnswersWhileOrdersWaitForTheirDatabase(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.RPC.Addr, cfg.Database.MaxConns, cfg.RecoveryInterval = testenv.FreeAddr(t), 1, 100*time.Millisecond
	require.NoError(t, orders.Program().Migrate(t.Context(), cfg, io.Discard))
	service, err := orders.New(t.Context(), cfg, telemetry.Discard())
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- service.Run(ctx) }()

	other, err := pgx.Connect(t.Context(), cfg.Database.URL)
	require.NoError(t, err)
	locking, err := other.Begin(t.Context())
	require.NoError(t, err)
	_, err = locking.Exec(t.Context(), `LOCK TABLE reservation_outcomes`)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		var waits bool
		const waiting = `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`
		require.NoError(t, locking.QueryRow(t.Context(), waiting).Scan(&waits))
		return waits
	}, 30*time.Second, 10*time.Millisecond, "the only connection is in use")

	conn, err := rpc.Dial(rpc.Target{Addr: cfg.RPC.Addr}, telemetry.Discard())
	require.NoError(t, err)
	_, err = commonv1.NewIdempotencyRegisterServiceClient(conn).ClaimKey(t.Context(), &commonv1.ClaimKeyRequest{
		KeyId: 1, IdempotencyKey: "k", Fingerprint: []byte("f"), Owner: "gifting.webhook.v1",
	})
	require.NoError(t, err)

	require.NoError(t, other.Close(t.Context()))
	require.NoError(t, conn.Close())
	stop()
	require.NoError(t, <-ended)
}
