//go:build faults

package faults_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/identity"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// longestPause is how long a change may wait for the move of its tenant: a gateway holds it, and its client repeats it once.
const longestPause = 15 * time.Second

// TestCellsMovesBreakNoInvariant moves both tenants of the load to another cell, back, and there again. Nothing else fails: every
// request is answered, no read is refused, and all invariants hold.
func TestCellsMovesBreakNoInvariant(t *testing.T) {
	seeded := setting(t, seedVariable, time.Now().UnixNano())
	r := newReport(t, seeded)
	d := newDeployment(t, options{
		binaries: buildPrograms(t, "", nil), direct: true, slowCommits: true, logs: r.dir, env: fewWorkers, cells: []string{"b"},
	})
	f := newFixture(t, d, seeded, refuseOneIn)
	f.paceOrders()
	f.movesOnly = true
	f.useDuring(t, func(ctx context.Context) {
		d.awaitGifts(ctx, t, seed.Direct)
		for _, to := range []string{"b", "a", "b"} {
			sleep(ctx, 5*time.Second)
			for _, tenant := range []string{seed.Direct, seed.Approving} {
				r.printf("%s", d.move(ctx, t, tenant, to))
			}
		}
		sleep(ctx, 5*time.Second)
	})
	f.checkAll(t, timeouts{feed: 3 * time.Minute, webhooks: 3 * time.Minute, stock: 2 * time.Minute}, r.printf)
	r.printf("a change was repeated for %s at most", f.longestWait)
	r.summary(f.results, nil)
	require.Empty(t, f.violations(), "seed %d, see %s", seeded, r.dir)
	require.Less(t, f.longestWait, longestPause)
}

// awaitGifts waits until a tenant can move to cell b: it has the gifts then.
func (d *deployment) awaitGifts(ctx context.Context, t *testing.T, tenant string) {
	t.Helper()
	var err error
	ready := waitFor(time.Minute, func() bool {
		_, err = d.cells.MoveTenant(ctx, &tenantsv1.MoveTenantRequest{Actor: staff, TenantId: tenant, To: "b", DryRun: true})
		return err == nil
	})
	require.True(t, ready, "%v", err)
}

// move moves a tenant and returns what the move says when it is done.
func (d *deployment) move(ctx context.Context, t *testing.T, tenant, to string) *tenantsv1.TenantMove {
	t.Helper()
	found, done := d.tryMove(ctx, t, tenant, to, moveTime)
	require.True(t, done, "%v", found)
	return found
}

// tryMove moves a tenant, and reports whether the move is done in time.
func (d *deployment) tryMove(
	ctx context.Context, t *testing.T, tenant, to string, within time.Duration,
) (found *tenantsv1.TenantMove, done bool) {
	t.Helper()
	_, err := d.cells.MoveTenant(ctx, &tenantsv1.MoveTenantRequest{Actor: staff, TenantId: tenant, To: to})
	require.NoError(t, err)
	if done = d.awaitStep(ctx, tenant, tenantsv1.MoveStep_MOVE_STEP_DONE, within, &found); done {
		require.Equal(t, to, d.cellOf(t, tenant))
	}
	return found, done
}

// awaitStep waits until the move of a tenant has reached a step, and notes what the move says.
func (d *deployment) awaitStep(
	ctx context.Context, tenant string, step tenantsv1.MoveStep, within time.Duration, found **tenantsv1.TenantMove,
) bool {
	return waitFor(within, func() bool {
		got, err := d.cells.GetTenantMove(ctx, &tenantsv1.GetTenantMoveRequest{Actor: staff, TenantId: tenant})
		if err == nil {
			*found = got.GetMove()
		}
		return err == nil && got.GetMove().GetStep() >= step
	})
}

// moveTime is how long a move may take that is disturbed: a switch that failed is tried again after a minute.
const moveTime = 5 * time.Minute

// TestCellsMovesGoOnAfterKills disturbs a move at each of its steps: the mover, a gateway, the relay and the senders of the old
// cell, and the database server die. Each move ends by itself, and all invariants hold.
func TestCellsMovesGoOnAfterKills(t *testing.T) {
	seeded := setting(t, seedVariable, time.Now().UnixNano())
	r := newReport(t, seeded)
	d := newDeployment(t, options{
		binaries: buildPrograms(t, "", nil), direct: true, slowCommits: true, logs: r.dir, env: fewWorkers, cells: []string{"b"},
	})
	f := newFixture(t, d, seeded, refuseOneIn)
	f.paceOrders()
	f.calm()
	var all []injected
	f.useDuring(t, func(ctx context.Context) {
		d.awaitGifts(ctx, t, seed.Direct)
		from, to := "a", "b"
		for _, step := range []tenantsv1.MoveStep{
			tenantsv1.MoveStep_MOVE_STEP_COPYING, tenantsv1.MoveStep_MOVE_STEP_PAUSING, tenantsv1.MoveStep_MOVE_STEP_SWITCHING,
			tenantsv1.MoveStep_MOVE_STEP_ERASING,
		} {
			for i := range d.disturbances(from) {
				disturbance := d.disturbances(from)[i]
				moved, during := d.moveDisturbed(ctx, t, to, step, disturbance)
				r.printf("%s at %s: %s", disturbance.description, step, moved)
				all = append(all, during)
				from, to = to, from
			}
		}
	})
	f.checkAll(t, timeouts{feed: 3 * time.Minute, webhooks: 3 * time.Minute, stock: 2 * time.Minute}, r.printf)
	r.printf("a change was repeated for %s at most", f.longestWait)
	r.summary(f.results, all)
	require.Empty(t, f.violations(), "seed %d, see %s", seeded, r.dir)
}

// disturbances are what a move from a cell must survive.
func (d *deployment) disturbances(from string) []fault {
	const down = time.Second
	return []fault{
		killed("kill -9 mover", "both instances of tenants", down, d.of(identity.Tenants)...),
		d.kill(d.of(identity.Gateway)[0], down),
		killed("kill -9 relay", "both instances of events of the old cell", down, d.ofCell(from, identity.Events)...),
		killed("kill -9 senders", "both instances of webhook of the old cell", down, d.ofCell(from, identity.Webhook)...),
		d.restart("crash ", d.postgres, syscall.SIGQUIT, down),
	}
}

// moveDisturbed moves a tenant, and injects the fault as soon as the move has reached the step.
func (d *deployment) moveDisturbed(
	ctx context.Context, t *testing.T, to string, at tenantsv1.MoveStep, disturbance fault,
) (*tenantsv1.TenantMove, injected) {
	t.Helper()
	_, err := d.cells.MoveTenant(ctx, &tenantsv1.MoveTenantRequest{Actor: staff, TenantId: seed.Direct, To: to})
	require.NoError(t, err)
	var found *tenantsv1.TenantMove
	require.True(t, d.awaitStep(ctx, seed.Direct, at, moveTime, &found), "%v", found)
	from := time.Now()
	require.NoError(t, disturbance.inject(ctx))
	require.True(t, d.awaitStep(ctx, seed.Direct, tenantsv1.MoveStep_MOVE_STEP_DONE, moveTime, &found), "%v", found)
	require.Equal(t, to, d.cellOf(t, seed.Direct))
	name := strings.TrimPrefix(at.String(), "MOVE_STEP_")
	return found, injected{kind: name + ": " + disturbance.kind, from: from, to: time.Now()}
}
