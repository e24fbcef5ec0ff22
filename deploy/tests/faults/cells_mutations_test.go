//go:build faults

package faults_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
)

// TestMutationsOfMovesAreFound moves both tenants there and back with a mover that has a bug. An invariant breaks, or the mover
// itself finds it and does not complete the move.
func TestMutationsOfMovesAreFound(t *testing.T) {
	unchanged := buildPrograms(t, "", nil)
	for _, m := range moveMutations {
		t.Run(m.name, func(t *testing.T) {
			r := newReport(t, 1)
			d := newDeployment(t, options{
				binaries: m.build(t, unchanged), direct: true, slowCommits: true, logs: r.dir, env: fewWorkers, cells: []string{"b"},
			})
			f := newFixture(t, d, 1, 0)
			f.movesOnly = true
			moved := true
			f.useDuring(t, func(ctx context.Context) {
				d.awaitGifts(ctx, t, seed.Direct)
				sleep(ctx, 10*time.Second)
				for _, tenant := range []string{seed.Direct, seed.Approving} {
					found, done := d.tryMove(ctx, t, tenant, "b", 90*time.Second)
					r.printf("%s", found)
					if moved = moved && done; !moved {
						return
					}
				}
				sleep(ctx, 10*time.Second)
			})
			f.checkAll(t, timeouts{feed: 15 * time.Second, webhooks: 30 * time.Second, stock: time.Minute}, r.printf)
			r.summary(f.results, nil)
			require.True(t, !moved || len(f.violations()[m.breaks]) > 0, "the mutation is not found")
		})
	}
}
