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
	// seedVariable repeats the choices of a run, secondsVariable says how long it goes on, logsVariable where the runs
	// that failed are kept: .local/faults of the workspace.
	seedVariable    = "GIFTING_TEST_SEED"
	secondsVariable = "GIFTING_TEST_SECONDS"
	logsVariable    = "GIFTING_TEST_LOG_DIR"
	defaultSeconds  = 600

	refuseOneIn = 300
	// manyOf bounds how often the same fault is told.
	manyOf = 10
)

// TestFaultsBreakNoInvariant uses two instances of each program for minutes, while what a seed has drawn is done to them,
// to their servers and to the connections between them. Then it holds what was answered, stored, published and delivered
// against each other.
func TestFaultsBreakNoInvariant(t *testing.T) {
	seconds, seeded := setting(t, secondsVariable, defaultSeconds), setting(t, seedVariable, time.Now().UnixNano())
	r := newRecord(t, seeded)
	r.say("%d seconds of faults; the same again: make faults MINUTES=%g SEED=%d", seconds, float64(seconds)/60, seeded)
	s := newSite(t, plan{binaries: buildPrograms(t, "", ""), slowCommits: true, logs: r.dir})
	c := newScene(t, s, seeded, refuseOneIn)
	total := time.Duration(seconds) * time.Second
	all := s.schedule(c.source(), total)
	r.keep("schedule.txt", listed(all))
	j := &injector{site: s, say: r.say, ended: map[string]int{}}
	c.use(t, total, func(ctx context.Context) { j.run(ctx, all) })
	require.NoError(t, j.failed)
	r.say("%d faults; instances that ended by themselves: %v", len(j.done), j.ended)
	c.judge(t, patient(), r.say)
	r.verdict(c.verdict, j.done)
	require.Empty(t, c.wrong(), "seed %d, see %s", seeded, r.dir)
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

// record is what is kept of a run that fails, and told of every run.
type record struct {
	t   *testing.T
	dir string
}

// newRecord makes the folder of a run, which goes when the run does not fail.
func newRecord(t *testing.T, seeded int64) *record {
	t.Helper()
	base := os.Getenv(logsVariable)
	if base == "" {
		base = filepath.Join(root(t), ".local", "faults")
	}
	r := &record{t: t, dir: filepath.Join(base, fmt.Sprintf("%s seed %d", time.Now().Format("2006-01-02 15.04.05"), seeded))}
	require.NoError(t, os.MkdirAll(r.dir, 0o750))
	t.Cleanup(func() {
		if !t.Failed() {
			require.NoError(t, os.RemoveAll(r.dir))
		}
	})
	return r
}

func (r *record) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...) + "\n"
	fmt.Print(line)
	file, err := os.OpenFile(filepath.Join(r.dir, "run.txt"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err == nil {
		_, _ = file.WriteString(line)
		_ = file.Close()
	}
}

func (r *record) keep(name, text string) {
	r.t.Helper()
	require.NoError(r.t, os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600))
}

// verdict prints what came of the requests, the table, and what was broken.
func (r *record) verdict(v *verdict, faults []done) {
	for _, outcome := range slices.Sorted(maps.Keys(v.outcomes)) {
		r.say("%8d %s", v.outcomes[outcome], outcome)
	}
	r.say("\nHow many checks were under way while a fault was around, by invariant:\n\n%s", table(faults, v.checks))
	wrong := v.wrong()
	for i := range invariants {
		for _, line := range few(wrong[i]) {
			r.say("BROKEN %s: %s", i, line)
		}
	}
}

func few(wrong []string) []string {
	if len(wrong) > manyOf {
		return append(wrong[:manyOf:manyOf], fmt.Sprintf("and %d more", len(wrong)-manyOf))
	}
	return wrong
}
