package personallinks_test

import (
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
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	personallinks "github.com/partnergifting/platform/services/personal-links"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

func config(t *testing.T) personallinks.Config {
	t.Helper()
	return personallinks.Config{
		RPC:       rpc.Config{Addr: testenv.FreeAddr(t)},
		Database:  postgres.Config{URL: pgtest.NewURL(t)},
		EventKeys: sealtest.Keys("a"),
		SealKeys:  "k1:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 32))),
		ClaimURL:  "https://gifts.example.com/c",
		// New does not connect to the peers.
		TenantsAddr: "127.0.0.1:1", CatalogAddr: "127.0.0.1:1", OrdersAddr: "127.0.0.1:1",
	}
}

// With an incomplete ring a link would be made that can never be claimed.
func TestTheServiceDoesNotServeWithAnIncompleteKeyRing(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	require.NoError(t, personallinks.Program().Migrate(t.Context(), cfg, io.Discard))
	conn, err := pgx.Connect(t.Context(), cfg.Database.URL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	ring, err := seal.ParseRing(cfg.SealKeys)
	require.NoError(t, err)
	id := uuid.NewString()
	for _, column := range store.SealedColumns()[0].Columns {
		sealed := map[string][]byte{"claim_url_sealed": {}}
		sealed[column.Name] = ring.Seal([]byte(`{}`), column.AssociatedData(id))
		_, err = conn.Exec(t.Context(), `DELETE FROM links`)
		require.NoError(t, err)
		_, err = conn.Exec(t.Context(), `INSERT INTO links (tenant_id, id, brand_id, batch_id, batch_index, status,
  claim_url_sealed, details_sealed, reason_sealed,
  created_at, updated_at, cancelled_at)
VALUES ($1, $1, $1, $1, 0, 'CANCELLED', $2, $3, $4, now(), now(), now())`,
			id, sealed["claim_url_sealed"], sealed["details_sealed"], sealed["reason_sealed"])
		require.NoError(t, err)
		require.Empty(t, readiness(t, cfg), column.Name)
		wrong := cfg
		wrong.SealKeys = "k2:" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("b", 32)))
		require.Contains(t, readiness(t, wrong), "links."+column.Name+` has values sealed with key "k1", but the ring lacks the key`)
	}
}

func readiness(t *testing.T, cfg personallinks.Config) (reason string) {
	t.Helper()
	return sealtest.Readiness(t, func(tel *telemetry.Telemetry) (*service.Service, error) {
		return personallinks.New(t.Context(), cfg, tel)
	})
}

func TestNewRefusesAnInvalidConfiguration(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(cfg *personallinks.Config){
		"no seal keys":             func(cfg *personallinks.Config) { cfg.SealKeys = "" },
		"an invalid claim URL":     func(cfg *personallinks.Config) { cfg.ClaimURL = "gifts.example.com" },
		"a claim URL with a path":  func(cfg *personallinks.Config) { cfg.ClaimURL = "https://example.com/gifts/c" },
		"a claim URL with a query": func(cfg *personallinks.Config) { cfg.ClaimURL += "?a=b" },
		"a peer without port":      func(cfg *personallinks.Config) { cfg.OrdersAddr = "127.0.0.1" },
		"an unreachable database":  func(cfg *personallinks.Config) { cfg.Database.URL = "postgres://nobody@127.0.0.1:1/x" },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t)
			change(&cfg)
			_, err := personallinks.New(t.Context(), cfg, telemetry.Discard())
			require.Error(t, err)
		})
	}
}

func TestAClaimURLWithAnotherPathIsAnInvalidSetting(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	require.NoError(t, cfg.Validate())
	cfg.ClaimURL = "https://example.com/gifts/c"
	require.ErrorContains(t, cfg.Validate(), "GIFTING_CLAIM_URL")
}

func TestAnAnswerIsKeptFor30DaysByDefault(t *testing.T) {
	t.Parallel()
	var cfg personallinks.Config
	require.NoError(t, settings.Defaults(&cfg))
	require.Equal(t, 30*24*time.Hour, cfg.Idempotency.Retention)
}

func TestReencryptReportsItsProgress(t *testing.T) {
	t.Parallel()
	cfg := config(t)
	require.NoError(t, personallinks.Program().Migrate(t.Context(), cfg, io.Discard))
	var out strings.Builder
	require.NoError(t, personallinks.Reencrypt(t.Context(), cfg, &out))
	require.Equal(t, `checked 0 of about 0 links, re-encrypted 0 values
checked 0 of about 0 form_drafts, re-encrypted 0 values
re-encrypted 0 stored responses
`, out.String())
	cfg.SealKeys = ""
	require.Error(t, personallinks.Reencrypt(t.Context(), cfg, &out))
}
