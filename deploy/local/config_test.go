package local

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/settings"
)

func TestConfig(t *testing.T) {
	t.Run("the zero value is usable", func(t *testing.T) {
		cfg, err := Config{}.withDefaults()
		require.NoError(t, err)
		require.Equal(t, "http://127.0.0.1:8080/api/public/v1", cfg.publicURL())
		require.Equal(t, "gifting.changes.v1", cfg.Topic())
	})
	t.Run("is read from the environment", func(t *testing.T) {
		t.Setenv("GIFTING_KAFKA_BROKERS", "a:1,b:2")
		var cfg Config
		require.NoError(t, settings.Load(&cfg))
		require.Equal(t, []string{"a:1", "b:2"}, cfg.KafkaBrokers)
		require.Equal(t, ".local", cfg.Dir)
	})
	t.Run("rejects a name that cannot be part of a database's name, and ports that do not fit", func(t *testing.T) {
		_, err := Config{Name: `x"; DROP`}.withDefaults()
		require.ErrorIs(t, err, errName)
		_, err = Config{PortBase: 65_530}.withDefaults()
		require.ErrorIs(t, err, errPortBase)
	})
	t.Run("rejects cells that are not different letters, and the first cell", func(t *testing.T) {
		for _, cells := range [][]string{{"a"}, {"B"}, {"b", "b"}, {"bc"}, {""}} {
			_, err := Config{Cells: cells}.withDefaults()
			require.ErrorIs(t, err, errCells, "%q", cells)
		}
		cfg, err := Config{Cells: []string{"b", "c"}}.withDefaults()
		require.NoError(t, err)
		require.Subset(t, cfg.Databases(), []string{"gifting_tenants", "gifting_orders", "gifting_b_orders", "gifting_c_links"})
		require.Len(t, cfg.Databases(), 6+2*5)
	})
	t.Run("no two programs share a port", func(t *testing.T) {
		cfg := Config{Cells: []string{"b", "c"}}
		ports := []int{inboxPort, postgresPort, redisPort, kafkaPort}
		for _, p := range programs.All() {
			ports = append(ports, slices.Compact([]int{p.Port, p.GRPCPort, p.Port + programs.MetricsOffset})...)
		}
		require.Less(t, slices.Max(ports), PortSpan)
		w := wiring{Config: cfg, databases: &databases{}}
		for _, cell := range w.withCells().cells {
			for _, p := range programsOfCell() {
				for _, offset := range slices.Compact([]int{p.Port, p.GRPCPort, p.Port + programs.MetricsOffset}) {
					ports = append(ports, cell.firstPort+offset)
				}
			}
		}
		slices.Sort(ports)
		require.Equal(t, slices.Compact(slices.Clone(ports)), ports)
		require.Less(t, ports[len(ports)-1], cfg.Ports())
	})
}

func TestSecrets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := readSecrets(dir)
	require.NoError(t, err)

	t.Run("are made once", func(t *testing.T) {
		again, err := readSecrets(dir)
		require.NoError(t, err)
		require.Equal(t, first, again)
	})
	t.Run("are good keys", func(t *testing.T) {
		for _, name := range []identity.Name{identity.Tenants, identity.Orders, identity.PersonalLinks} {
			_, err := seal.ParseRing(first.sealKeys(programs.Named(name)))
			require.NoError(t, err)
		}
	})
	t.Run("are readable by their owner only", func(t *testing.T) {
		info, err := os.Stat(dir + "/secrets.json")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	})
	t.Run("an invalid file is not replaced", func(t *testing.T) {
		require.NoError(t, os.WriteFile(dir+"/secrets.json", []byte("{"), 0o600))
		_, err := readSecrets(dir)
		require.Error(t, err)
	})
}
