//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const (
	// seedVariable repeats the choices of a run, secondsVariable is its length, logsVariable the folder of failed runs:
	// .local/faults of the workspace by default.
	seedVariable    = "GIFTING_TEST_SEED"
	secondsVariable = "GIFTING_TEST_SECONDS"
	logsVariable    = "GIFTING_TEST_LOG_DIR"

	refuseOneIn = 300
	// maxLines bounds how many violations of an invariant are printed.
	maxLines = 10
)

// TestFaultsBreakNoInvariant uses two instances of each program for minutes, while faults are injected into them, their servers
// and their connections, by a schedule that depends on a seed. Then it compares the responses with the stored records, the feed
// and the webhooks.
func TestFaultsBreakNoInvariant(t *testing.T) {
	seconds, seeded := setting(t, secondsVariable, 600), setting(t, seedVariable, time.Now().UnixNano())
	r := newReport(t, seeded)
	r.printf("%d seconds of faults; to repeat: make faults MINUTES=%g SEED=%d", seconds, float64(seconds)/60, seeded)
	d := newDeployment(t, options{binaries: buildPrograms(t, "", nil), slowCommits: true, logs: r.dir, env: fewWorkers})
	f := newFixture(t, d, seeded, refuseOneIn)
	f.addDeadEndpoints(t)
	f.paceOrders()
	total := time.Duration(seconds) * time.Second
	all := d.schedule(f.newRandom(), total)
	require.NoError(t, os.WriteFile(filepath.Join(r.dir, "schedule.txt"), []byte(formatSchedule(all)), 0o600))
	j := &injector{deployment: d, printf: r.printf, restarts: map[string]int{}}
	f.use(t, total, func(ctx context.Context) { j.run(ctx, all) })
	require.NoError(t, j.err)
	r.printf("%d faults; instances that ended by themselves: %v", len(j.injected), j.restarts)
	f.checkAll(t, timeouts{feed: 3 * time.Minute, webhooks: 3 * time.Minute, stock: 2 * time.Minute}, r.printf)
	f.checkLongCalls(t, j.injected, r.printf)
	r.summary(f.results, j.injected)
	require.Empty(t, f.violations(), "seed %d, see %s", seeded, r.dir)
}

func setting(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, variable)
	return value
}

// report prints a run and writes it to a folder, which is kept if the run fails.
type report struct{ dir string }

func newReport(t *testing.T, seeded int64) *report {
	t.Helper()
	base := os.Getenv(logsVariable)
	if base == "" {
		base = filepath.Join(root(t), ".local", "faults")
	}
	r := &report{dir: filepath.Join(base, fmt.Sprintf("%s seed %d", time.Now().Format("2006-01-02 15.04.05"), seeded))}
	require.NoError(t, os.MkdirAll(r.dir, 0o750))
	t.Cleanup(func() {
		if !t.Failed() {
			require.NoError(t, os.RemoveAll(r.dir))
		}
	})
	return r
}

func (r *report) printf(format string, args ...any) {
	line := fmt.Sprintf(format, args...) + "\n"
	fmt.Print(line)
	file, err := os.OpenFile(filepath.Join(r.dir, "run.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = file.WriteString(line)
		_ = file.Close()
	}
}

// summary prints the outcomes of the requests, the table of faults and invariants, and the violations.
func (r *report) summary(of *results, faults []injected) {
	for _, outcome := range slices.Sorted(maps.Keys(of.outcomes)) {
		r.printf("%8d %s", of.outcomes[outcome], outcome)
	}
	r.printf("\nHow many checks overlap a fault, by invariant:\n\n%s", table(faults, of.checks))
	violations := of.violations()
	for i := range invariants {
		for _, line := range shorten(violations[i]) {
			r.printf("BROKEN %s: %s", i, line)
		}
	}
}

func shorten(lines []string) []string {
	if len(lines) > maxLines {
		return append(lines[:maxLines:maxLines], fmt.Sprintf("and %d more", len(lines)-maxLines))
	}
	return lines
}
