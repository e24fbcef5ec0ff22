package orders_test

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
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
