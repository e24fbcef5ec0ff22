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

func TestResealNeedsOnlyTheDatabaseAndTheKeys(t *testing.T) {
	cfg := orders.Config{
		Database: postgres.Config{URL: pgtest.New(t).Config().ConnString()},
		SealKeys: "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
	}
	require.NoError(t, orders.Migrate(t.Context(), cfg))
	var out bytes.Buffer
	require.NoError(t, orders.Reseal(t.Context(), cfg, &out))
	require.Equal(t, "looked at 0 of about 0 orders, sealed 0 again\n", out.String())

	cfg.SealKeys = "k1"
	require.ErrorIs(t, orders.Reseal(t.Context(), cfg, &out), seal.ErrRing)
}

func TestAnAuditThatWouldBeKeptTooShortIsRefused(t *testing.T) {
	cfg := orders.Config{
		SealKeys:       "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", 32))),
		OpeningHours:   "Mon-Fri 09:00-17:00",
		OpeningZone:    "UTC",
		AuditRetention: retention.MinAudit - 1,
	}
	_, err := orders.New(t.Context(), cfg, &telemetry.Telemetry{})
	require.ErrorIs(t, err, retention.ErrAudit)
}
