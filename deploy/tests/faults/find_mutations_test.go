//go:build faults

package faults_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
)

// TestMutationsOfThePlatformAreFound shows that the checks work: they find each mutation, and nothing else.
func TestMutationsOfThePlatformAreFound(t *testing.T) {
	unchanged := buildPrograms(t, "", nil)
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			r := newReport(t, 1)
			d := newDeployment(t, options{binaries: m.build(t, unchanged), slowCommits: true, logs: r.dir, env: fewWorkers})
			f := newFixture(t, d, time.Now().UnixNano(), 0)
			f.addDeadEndpoints(t)
			f.paceOrders()
			f.use(t, 25*time.Second, func(ctx context.Context) { <-ctx.Done() })
			f.checkAll(t, timeouts{feed: 15 * time.Second, webhooks: 2 * time.Minute, stock: time.Minute}, r.printf)
			r.summary(f.results, nil)
			if m.breaks == invariants {
				require.Empty(t, f.violations())
				return
			}
			require.NotEmpty(t, f.violations()[m.breaks], "the mutation is not found")
		})
	}
}

// TestMutationsAreFoundByDisasters shows the same for the defences against servers that go back in time.
func TestMutationsAreFoundByDisasters(t *testing.T) {
	unchanged, all := buildPrograms(t, "", nil), disasters()
	for _, m := range disasterMutations {
		t.Run(m.name, func(t *testing.T) {
			one := all[slices.IndexFunc(all, func(d disaster) bool { return d.name == m.disaster })]
			one.variant = m.variant
			r := newReport(t, 1)
			found := one.run(t, m.build(t, unchanged), 1, r)
			r.summary(found, nil)
			require.NotEmpty(t, found.violations()[m.breaks], "the mutation is not found")
		})
	}
}

// build returns a folder of programs with the mutation. Programs that it does not change are links to the unchanged ones.
func (m mutation) build(t *testing.T, unchanged string) string {
	t.Helper()
	var changed []identity.Name
	for _, p := range programs.All() {
		if slices.ContainsFunc(m.changes, func(c replacement) bool {
			return strings.HasPrefix(c.file, "pkg/") || strings.HasPrefix(c.file, "services/"+string(p.Name)+"/")
		}) {
			changed = append(changed, p.Name)
		}
	}
	dir := buildPrograms(t, "", []string{"-overlay", overlay(t, m.changes)}, changed...)
	for _, p := range programs.All() {
		if !slices.Contains(changed, p.Name) {
			require.NoError(t, os.Symlink(filepath.Join(unchanged, string(p.Name)), filepath.Join(dir, string(p.Name))))
		}
	}
	return dir
}
