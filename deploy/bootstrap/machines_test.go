package bootstrap_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/production"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
)

const threeMachines = `
settings:
  GIFTING_ENVIRONMENT: production
  GIFTING_PUBLIC_URL: https://api.example.com/api/public/v1
  GIFTING_CLAIM_URL: https://gifts.example.com/c
  GIFTING_IMAGES_URL: s3://gifting-images?region=eu-north-1
  GIFTING_KAFKA_BROKERS: kafka-1.example.com:9092
  GIFTING_OPERATOR_NAME: The "Gift" \ $(touch made) ` + "`touch made`" + ` $HOME
machines:
  - {name: a, address: 10.0.0.1, programs: [gateway, orders, catalog, tenants]}
  - {name: b, address: 10.0.0.2, programs: [gateway, orders, events, webhook],
     settings: {GIFTING_LOG_LEVEL: DEBUG, GIFTING_LAME_DUCK: 30s, GIFTING_DRAIN_TIMEOUT: 1m}}
  - {name: c, address: 10.0.0.3, firstPort: 9080, programs: [personal-links, events, webhook, tenants],
     settings: {GIFTING_WEBHOOK_TIMEOUT: 1m30s, GIFTING_WEBHOOK_LEASE: 2m}}
`

// writePlan writes a plan, and returns its path and the sources for its machines.
func writePlan(t *testing.T, text string) (string, bootstrap.Sources) {
	t.Helper()
	dir := t.TempDir()
	from := bootstrap.Sources{Secrets: filepath.Join(dir, "secrets"), Certificates: filepath.Join(dir, "certificates")}
	_, err := bootstrap.WriteSecrets(from.Secrets, stores)
	require.NoError(t, err)
	_, err = bootstrap.Certificates{Dir: from.Certificates}.Make(time.Now())
	require.NoError(t, err)
	path := filepath.Join(dir, "machines.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path, from
}

func TestAFurtherCellHasTheServicesThatEveryCellHas(t *testing.T) {
	t.Parallel()
	const machines = `
machines:
  - {name: d, address: 10.0.0.4, programs: [catalog, orders, personal-links, events, webhook]}
settings:
  GIFTING_CELL: b
  GIFTING_TENANTS_ADDR: 10.0.0.1:8081,10.0.0.3:9081
`
	common, _, _ := strings.Cut(strings.ReplaceAll(threeMachines, "\nsettings:\n", ""), "machines:")
	path, from := writePlan(t, machines+common)
	plan, err := bootstrap.ReadPlan(path)
	require.NoError(t, err)
	out := t.TempDir()
	_, err = plan.Write(out, from)
	require.NoError(t, err)
	files := contents(t, out)
	for _, name := range plan.Machines[0].Programs {
		env := files["d/etc/gifting/"+string(name)+".env"]
		require.Contains(t, env, `GIFTING_CELL="b"`, name)
		require.Contains(t, env, `GIFTING_TENANTS_ADDR="10.0.0.1:8081,10.0.0.3:9081"`, name)
	}
	path, _ = writePlan(t, strings.Replace(machines, "GIFTING_CELL: b", "GIFTING_CELL: a", 1)+common)
	_, err = bootstrap.ReadPlan(path)
	require.ErrorContains(t, err, "tenants: no machine runs it")
}

func TestMachines(t *testing.T) {
	t.Parallel()
	path, from := writePlan(t, threeMachines)
	plan, err := bootstrap.ReadPlan(path)
	require.NoError(t, err)
	out := t.TempDir()
	count, err := plan.Write(out, from)
	require.NoError(t, err)
	files := contents(t, out)
	require.Len(t, files, count["a"]+count["b"]+count["c"])

	t.Run("know the addresses of all instances", func(t *testing.T) {
		t.Parallel()
		gateway := files["a/etc/gifting/gateway.env"]
		require.Contains(t, gateway, `GIFTING_HTTP_ADDR="10.0.0.1:8080"`)
		require.Contains(t, gateway, `GIFTING_GRPC_ADDR="10.0.0.1:8087"`)
		require.Contains(t, gateway, `GIFTING_ORDERS_ADDR="10.0.0.1:8083,10.0.0.2:8083"`)
		require.Contains(t, gateway, `GIFTING_PERSONAL_LINKS_ADDR="10.0.0.3:9084"`)
		require.Contains(t, files["c/etc/gifting/events.env"], `GIFTING_METRICS_ADDR="10.0.0.3:9095"`)
	})
	t.Run("have the settings of the plan and their own", func(t *testing.T) {
		t.Parallel()
		require.Contains(t, files["a/etc/gifting/orders.env"],
			"GIFTING_OPERATOR_NAME=\"The \\\"Gift\\\" \\\\ \\$(touch made) \\`touch made\\` \\$HOME\"\n")
		require.NotContains(t, files["a/etc/gifting/orders.env"], "LOG_LEVEL")
		require.Contains(t, files["b/etc/gifting/orders.env"], `GIFTING_LOG_LEVEL="DEBUG"`)
	})
	t.Run("have settings that a shell reads as systemd does", func(t *testing.T) {
		t.Parallel()
		shell := exec.CommandContext(t.Context(), "sh", "-c", `. "$0" && printf %s "$GIFTING_OPERATOR_NAME"`,
			filepath.Join(out, "a/etc/gifting/orders.env"))
		shell.Dir = t.TempDir()
		read, err := shell.CombinedOutput()
		require.NoError(t, err, "%s", read)
		require.Equal(t, "The \"Gift\" \\ $(touch made) `touch made` $HOME", string(read))
		require.NoFileExists(t, filepath.Join(shell.Dir, "made"))
	})
	t.Run("give a program the time that it needs to stop", func(t *testing.T) {
		t.Parallel()
		for unit, seconds := range map[string]string{"a/orders": "35", "b/orders": "105", "c/webhook": "105", "c/tenants": "35"} {
			machine, program, _ := strings.Cut(unit, "/")
			require.Equal(t, "[Service]\nTimeoutStopSec="+seconds+"s\n",
				files[machine+"/etc/systemd/system/gifting@"+program+".service.d/10-stop.conf"], unit)
		}
	})
	t.Run("have the secrets of their programs only", func(t *testing.T) {
		t.Parallel()
		programsOf := map[string][]identity.Name{}
		for _, m := range plan.Machines {
			programsOf[m.Name] = m.Programs
		}
		for path := range files {
			name, isEnv := strings.CutSuffix(filepath.Base(path), ".env")
			name, isKey := strings.CutSuffix(name, ".key")
			if isEnv || isKey {
				machine, _, _ := strings.Cut(path, "/")
				require.Contains(t, programsOf[machine], identity.Name(strings.TrimSuffix(name, "-migrate")), path)
			}
		}
		require.NotContains(t, files, "a/etc/gifting/tls/ca.key")
	})
	t.Run("have the login for migrations of a database on one machine", func(t *testing.T) {
		t.Parallel()
		require.Contains(t, files["a/etc/gifting/orders-migrate.env"], "gifting_orders_migrate:")
		require.NotContains(t, files, "b/etc/gifting/orders-migrate.env")
		for name, text := range files {
			require.True(t, strings.HasSuffix(name, "-migrate.env") || !strings.Contains(text, "_migrate:"), name)
		}
	})
	t.Run("can be written again, but not with a secret that is gone", func(t *testing.T) {
		_, err := plan.Write(out, from)
		require.NoError(t, err)
		require.Equal(t, files, contents(t, out))
		_, err = plan.Write(t.TempDir(), bootstrap.Sources{Secrets: t.TempDir(), Certificates: from.Certificates})
		require.ErrorContains(t, err, "bootstrap keys")
	})
}

func TestAMachineLosesTheFilesOfAProgramThatMoved(t *testing.T) {
	t.Parallel()
	path, from := writePlan(t, threeMachines)
	out := t.TempDir()
	write := func() map[string]string {
		plan, err := bootstrap.ReadPlan(path)
		require.NoError(t, err)
		_, err = plan.Write(out, from)
		require.NoError(t, err)
		return contents(t, out)
	}
	write()
	move := strings.NewReplacer("orders, catalog, tenants]", "tenants]", "orders, events", "orders, catalog, events")
	require.NoError(t, os.WriteFile(path, []byte(move.Replace(threeMachines)), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(out, "a", "notes"), nil, 0o600))
	files := write()
	for name := range files {
		require.False(t, strings.HasPrefix(name, "a/") && (strings.Contains(name, "orders") || strings.Contains(name, "catalog")), name)
	}
	require.Contains(t, files, "b/etc/gifting/orders-migrate.env")
	require.Contains(t, files, "a/notes", "other files stay")
}

func TestAPlanThatCannotWorkIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ old, with, want string }{
		"a program that does not exist":  {"[gateway, orders, catalog", "[gateway, order, catalog", "no such program: order"},
		"a program that runs nowhere":    {"personal-links, ", "", "personal-links: no machine runs it"},
		"a program twice":                {"personal-links, ", "personal-links, events, ", "events is named twice"},
		"a machine twice":                {"name: b", "name: a", "a is named twice"},
		"two machines at one port":       {"10.0.0.2", "10.0.0.1", "b has the same address and too few ports"},
		"a machine without an address":   {"address: 10.0.0.2, ", "", "an address"},
		"a name that leaves the folder":  {"name: b", "name: ../b", "lower-case letters, digits and dashes"},
		"a setting that does not exist":  {"GIFTING_LOG_LEVEL", "GIFTING_LOGLEVEL", "GIFTING_LOGLEVEL"},
		"a secret in the plan":           {"GIFTING_LOG_LEVEL", "GIFTING_SEAL_KEYS", "belongs in the folder of secrets"},
		"a member that does not exist":   {"firstPort", "port", "field port not found"},
		"a value that a program refuses": {"https://gifts.example.com/c", "gifts", "GIFTING_CLAIM_URL"},
		"a setting that is missing":      {"  GIFTING_KAFKA_BROKERS: kafka-1.example.com:9092\n", "", "GIFTING_KAFKA_BROKERS"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Contains(t, threeMachines, tc.old)
			path, from := writePlan(t, strings.Replace(threeMachines, tc.old, tc.with, 1))
			plan, err := bootstrap.ReadPlan(path)
			if err == nil {
				_, err = plan.Write(t.TempDir(), from)
			}
			require.ErrorContains(t, err, tc.want)
		})
	}
}

// hardening is what every unit must say.
var hardening = map[string]string{
	"DynamicUser": "yes", "NoNewPrivileges": "yes", "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes",
	"PrivateDevices": "yes", "CapabilityBoundingSet": "", "SystemCallFilter": "@system-service", "MemoryDenyWriteExecute": "yes",
	"RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "RestrictNamespaces": "yes", "ProtectKernelTunables": "yes",
	"UMask": "0077",
}

func TestUnitsAreHardened(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gifting@.service", "gifting-migrate@.service"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unit, err := production.ReadUnit(name)
			require.NoError(t, err)
			for directive, value := range hardening {
				require.Equal(t, []string{value}, unit.Service[directive], directive)
			}
			require.Equal(t, []string{"network-online.target"}, unit.Unit["Wants"])
			if name == "gifting@.service" {
				require.Equal(t, []string{"always"}, unit.Service["Restart"])
				require.Contains(t, unit.Unit["After"][0], "gifting-migrate@%i.service")
			}
		})
	}
}

func TestSystemdAcceptsTheUnits(t *testing.T) {
	t.Parallel()
	verify, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed; the units are parsed strictly by other tests")
	}
	dir := t.TempDir()
	for _, name := range []string{"gifting@.service", "gifting-migrate@.service"} {
		content, err := production.Units.ReadFile("systemd/" + name)
		require.NoError(t, err)
		// The program need not be installed here.
		text := strings.Replace(string(content), "/usr/local/lib/gifting/%i", "/bin/true", 1)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, p := range programs.All() {
		unit := filepath.Join(dir, "gifting@"+string(p.Name)+".service")
		output, err := exec.CommandContext(t.Context(), verify, "verify", "--man=no", unit).CombinedOutput()
		require.NoError(t, err, "%s", output)
		require.NotContains(t, string(output), "gifting", "systemd has a warning")
	}
}
