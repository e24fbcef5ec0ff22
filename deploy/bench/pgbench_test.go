package bench_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

var (
	errNoPgbench = errors.New("no pgbench: it comes with the server, on Debian with postgresql or postgresql-contrib")
	tps          = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)
	processed    = regexp.MustCompile(`(?m)^number of transactions actually processed: ([0-9]+)`)
	failures     = regexp.MustCompile(`(?m)^number of failed transactions: ([0-9]+)`)
)

// pgbench runs a script against a database. Its clients have a connection each.
type pgbench struct {
	program, url, script string
	meter                *fixture.Meter
	variables            map[string]string
	iteration            int

	side
}

// findPgbench looks on the path and where distributions put it, the newest version first.
func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && filepath.Base(path) == "pgbench" {
			return path, nil // Debian's link leads to a wrapper, which may find no version.
		}
	}
	best, version := "", -1
	packaged, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench") // the pattern is well formed
	for _, path := range packaged {
		if n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))); n > version {
			best, version = path, n
		}
	}
	if best == "" {
		return "", errNoPgbench
	}
	return best, nil
}

// run runs the script for an iteration. The rate is without the time to connect.
func (p *pgbench) run(b *testing.B) {
	b.Helper()
	args := []string{
		"--no-vacuum", "--protocol=prepared", "--client=" + strconv.Itoa(p.clients), "--jobs=" + strconv.Itoa(runtime.NumCPU()),
		"--time=" + strconv.Itoa(int(iterationTime.Seconds())), "--file=" + p.script,
		"--define=clients=" + strconv.Itoa(p.clients), fmt.Sprintf("--define=iteration=%d", p.iteration), "--define=n=0",
	}
	for name, value := range p.variables {
		args = append(args, "--define="+name+"="+value)
	}
	p.iteration++
	cmd := exec.CommandContext(b.Context(), p.program, append(args, p.url)...)
	var output bytes.Buffer
	cmd.Stderr, cmd.Env = &output, append(os.Environ(), "LC_ALL=C")
	var out []byte
	var err error
	used := p.meter.During(b, func() { out, err = cmd.Output() })
	require.NoError(b, err, output.String())
	if failed := failures.FindSubmatch(out); failed != nil {
		require.Equal(b, "0", string(failed[1]), string(out))
	}
	whole := used.Database + cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	p.add(number(b, tps, out), float64(whole.Microseconds())/number(b, processed, out))
}

// number finds a number in pgbench's report.
func number(b *testing.B, pattern *regexp.Regexp, report []byte) float64 {
	b.Helper()
	found := pattern.FindSubmatch(report)
	require.NotNil(b, found, string(report))
	n, err := strconv.ParseFloat(string(found[1]), 64)
	require.NoError(b, err)
	return n
}
