package local

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
)

func newWiring(t *testing.T, cells ...string) wiring {
	t.Helper()
	cfg, err := Config{Dir: t.TempDir(), Cells: cells}.withDefaults()
	require.NoError(t, err)
	w := wiring{Config: cfg, redisURL: "redis://127.0.0.1:1", brokers: "127.0.0.1:2"}
	w.databases, err = newDatabases("postgres://postgres@127.0.0.1:3/postgres?sslmode=disable", nil, cfg.Name, "secret")
	require.NoError(t, err)
	w.secrets, err = readSecrets(cfg.Dir)
	require.NoError(t, err)
	return w.withCells()
}

func environment(t *testing.T, w wiring, name identity.Name) map[string]string {
	t.Helper()
	env, err := w.environment(programs.Named(name))
	require.NoError(t, err)
	return env
}

func TestAStackWithoutFurtherCellsHasNoSettingOfThem(t *testing.T) {
	t.Parallel()
	for _, p := range programs.All() {
		env := environment(t, newWiring(t), p.Name)
		require.NotContains(t, env, "GIFTING_CELL")
		require.NotContains(t, env, "GIFTING_CELL_DATABASES")
	}
}

func TestTheProgramsOfAFurtherCellCallEachOther(t *testing.T) {
	t.Parallel()
	w := newWiring(t, "b")
	home, cell := environment(t, w, identity.Orders), environment(t, w.cells[0], identity.Orders)
	require.Equal(t, "b", cell["GIFTING_CELL"])
	require.Equal(t, "127.0.0.1:8115", cell["GIFTING_CATALOG_ADDR"])
	require.Equal(t, home["GIFTING_TENANTS_ADDR"], cell["GIFTING_TENANTS_ADDR"], "there is one tenants service")
	require.Contains(t, cell["GIFTING_DATABASE_URL"], "/gifting_b_orders?")
	require.Equal(t, home["GIFTING_SEAL_KEYS"], cell["GIFTING_SEAL_KEYS"])
	require.Equal(t, "127.0.0.1:8082", environment(t, w, identity.Gateway)["GIFTING_CATALOG_ADDR"])
}

// What two programs must not share differs: else one would take the work of the other.
func TestTheProgramsOfTwoCellsShareNoServerOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWiring(t, "b", "c")
	for _, p := range programsOfCell() {
		for _, name := range []string{
			"GRPC_ADDR", "HTTP_ADDR", "METRICS_ADDR", "DATABASE_URL", "OUTBOX_SOURCES",
			"KAFKA_TOPIC", "KAFKA_FEED_GROUP", "KAFKA_WEBHOOK_GROUP",
		} {
			if _, known := p.Settings[settings.Prefix+name]; !known {
				continue
			}
			values := map[string]bool{}
			for _, cell := range w.all() {
				values[environment(t, cell, p.Name)[settings.Prefix+name]] = true
			}
			require.Len(t, values, 3, "%s of %s", name, p.Name)
		}
	}
}

func TestTheTenantsServiceFindsTheDatabasesOfAllCells(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a=postgres://postgres@127.0.0.1:3/gifting_{database}?sslmode=disable,"+
		"b=postgres://postgres@127.0.0.1:3/gifting_b_{database}?sslmode=disable", newWiring(t, "b").cellDatabases())
}
