package production

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// recorder is a command that writes its name and arguments to a file.
const recorder = `#!/bin/sh
echo "${0##*/} $*" >> "$RECORD"
`

// remote is ssh, whose commands run here. It names the machine.
const remote = `#!/bin/sh
host=$1; shift
echo "on $host" >> "$RECORD"
exec sh -c "$*"
`

// commands runs the block of the page that has the text, and then more, with a folder in place of /etc/gifting. It returns what
// was called.
func commands(t *testing.T, page, text, more string) []string {
	t.Helper()
	content, err := os.ReadFile(page)
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(content), -1)
	at := slices.IndexFunc(blocks, func(block []string) bool { return strings.Contains(block[1], text) })
	require.GreaterOrEqual(t, at, 0)
	dir, settings := t.TempDir(), t.TempDir()
	for _, name := range []string{"rsync", "make", "systemctl", "curl", "journalctl", "systemd-run"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(recorder), 0o700))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ssh"), []byte(remote), 0o700))
	for name, address := range map[string]string{"orders": "10.0.1.11:8093", "gateway": "10.0.1.11:8090", "orders-migrate": ""} {
		require.NoError(t, os.WriteFile(filepath.Join(settings, name+".env"), []byte(`GIFTING_METRICS_ADDR="`+address+"\"\n"), 0o600))
	}
	script := strings.ReplaceAll(blocks[at][1], "/etc/gifting/", settings+"/") + "\n" + more
	command := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	record := filepath.Join(t.TempDir(), "record")
	command.Env = append(os.Environ(), "RECORD="+record, "PATH="+dir+":"+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	recorded, err := os.ReadFile(record)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(strings.ReplaceAll(string(recorded), settings+"/", "/etc/gifting/")), "\n")
}

func TestMachinesAreRestartedOneAfterAnotherWhenTheyAreReady(t *testing.T) {
	t.Parallel()
	var want []string
	for _, host := range []string{"a", "b", "c"} {
		want = append(want, "on root@"+host, "systemctl restart gifting@*",
			"curl -fsS -o /dev/null http://10.0.1.11:8090/readyz", "curl -fsS -o /dev/null http://10.0.1.11:8093/readyz")
	}
	require.Equal(t, want, commands(t, "README.md", "systemctl restart", ""))
}

func TestDatabasesAreMigratedBeforeAnyProgramStarts(t *testing.T) {
	t.Parallel()
	called := commands(t, "README.md", "rsync", "")
	first := slices.IndexFunc(called, func(line string) bool { return strings.HasPrefix(line, "systemctl enable") })
	migrations := 0
	for at, line := range called {
		if line == "systemctl start gifting-migrate@orders" {
			migrations++
			require.Less(t, at, first)
		}
		require.False(t, strings.HasPrefix(line, "rsync") && at > first, line)
	}
	require.Equal(t, 3, migrations)
	require.Contains(t, called, "systemctl enable --now gifting@orders")
	require.NotContains(t, called, "systemctl enable --now gifting@orders-migrate")
}

func TestTheFunctionsOfRunbooksForMachinesCallSystemd(t *testing.T) {
	t.Parallel()
	called := commands(t, "../runbooks/README.md", "systemd-run", "logs orders; restart gateway; program orders migrate --check")
	require.Equal(t, []string{
		"on root@a", "journalctl --quiet --output cat --since -15min --unit gifting@orders",
		"on root@b", "journalctl --quiet --output cat --since -15min --unit gifting@orders",
		"on root@c", "journalctl --quiet --output cat --since -15min --unit gifting@orders",
		"on root@a", "systemctl try-restart gifting@gateway",
		"on root@b", "systemctl try-restart gifting@gateway",
		"on root@c", "systemctl try-restart gifting@gateway",
		"on root@a", "on root@a",
		"systemd-run --quiet --pipe --wait --collect --property EnvironmentFile=/etc/gifting/orders.env " +
			"--setenv GIFTING_TLS_CERT_FILE=/etc/gifting/tls/orders.crt --setenv GIFTING_TLS_KEY_FILE=/etc/gifting/tls/orders.key " +
			"--setenv GIFTING_TLS_CA_FILE=/etc/gifting/tls/ca.crt /usr/local/lib/gifting/orders migrate --check",
	}, called)
}

func TestAUnitWithAMistakeIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a mistyped directive":             "[Service]\nProtectSytem=strict\n",
		"a directive in the wrong section": "[Unit]\nRestart=always\n",
		"a directive before any section":   "Restart=always\n",
		"a line that is none":              "[Service]\nRestart always\n",
		"a section that does not exist":    "[Services]\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := parseUnit(text)
			require.Error(t, err)
		})
	}
	unit, err := parseUnit("# why\n[Service]\nEnvironment=A=1\nEnvironment=B=2\n")
	require.NoError(t, err)
	require.Equal(t, []string{"A=1", "B=2"}, unit.Service["Environment"])
}
