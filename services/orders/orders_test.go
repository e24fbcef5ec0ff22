package orders_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/orders"
	"github.com/partnergifting/platform/services/orders/internal/retention"
)

func config(t *testing.T) orders.Config {
	t.Helper()
	return orders.Config{
		Database:    postgres.Config{URL: pgtest.NewURL(t)},
		SealKeys:    "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
		TenantsAddr: "127.0.0.1:1", CatalogAddr: "127.0.0.1:1",
	}
}

func TestReencryptNeedsOnlyTheDatabaseAndTheKeys(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.TenantsAddr, cfg.CatalogAddr = "", ""
	require.NoError(t, orders.Migrate(t.Context(), cfg))
	var out bytes.Buffer
	require.NoError(t, orders.Reencrypt(t.Context(), cfg, &out))
	require.Equal(t, "checked 0 of about 0 orders, re-encrypted 0 values\n", out.String())

	cfg.SealKeys = "k1"
	require.ErrorIs(t, orders.Reencrypt(t.Context(), cfg, &out), seal.ErrRing)
}

func TestATooShortRetentionOfTheAuditIsRefused(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.AuditRetention = retention.MinAudit - 1
	_, err := orders.New(t.Context(), cfg, telemetry.Discard())
	require.ErrorIs(t, err, retention.ErrAudit)
}

// Requests to other services wait for the register, so the register must not wait for connections that orders use.
func TestTheRegisterAnswersWhileOrdersWaitForTheirDatabase(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	cfg.RPC.Addr, cfg.Database.MaxConns, cfg.RecoveryInterval = testenv.FreeAddr(t), 1, 100*time.Millisecond
	require.NoError(t, orders.Migrate(t.Context(), cfg))
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
	}, 10*time.Second, 10*time.Millisecond, "the only connection is in use")

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
