//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"hash/fnv"
	mathrand "math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
)

// disaster is an event after which a part of the platform is in an earlier state than the others, or has another time. Each
// function runs under load. All but name and goBack may be nil.
type disaster struct {
	name string
	// options of the deployment, such as the databases with a server of their own.
	options options
	// variant is one of setbacks; if it is empty, the seed decides.
	variant string
	// prepare takes the state to which goBack returns.
	prepare, goBack step
	// recover is what a person does, by the commands of a runbook. Without it, the platform recovers by itself.
	recover step
	// after runs when the load has ended and the platform has recovered, before the invariants are checked.
	after step
}

// step of a disaster.
type step func(ctx context.Context, t *testing.T, d *drill)

// drill is a run of a disaster.
type drill struct {
	*fixture
	printf func(format string, args ...any)
	// draw makes the choices that the disaster leaves to the seed. turn chooses among variants, so that consecutive seeds use all.
	draw *mathrand.Rand
	turn uint64
	// variant is that of the disaster.
	variant string
	// topic is the topic of changes.
	topic string
	// prepared is when the state was taken, wentBack when it was restored.
	prepared, wentBack time.Time
	// readFrom is the time from which commands of runbooks read again: prepared, unless a runbook shows another.
	readFrom time.Time
	// left are the differences that no command repairs.
	left reconciled
	// restores are what restoreAll runs.
	restores []restore
}

const (
	// The times of the load before the state is taken, until the server goes back, and after it has recovered.
	loadBefore, loadBetween, loadAfter = 4 * time.Second, 8 * time.Second, 8 * time.Second
	// spread is a random part of these times.
	spread = 3 * time.Second
)

// TestDisasters runs each disaster under load on two instances of each program. A seed decides the variant of a disaster and the
// choices of the writers. Then the checks of the fault injection compare the responses with records, feed and webhooks.
func TestDisasters(t *testing.T) {
	seeded := setting(t, seedVariable, time.Now().UnixNano())
	binaries := buildPrograms(t, "", nil)
	var rows []row
	for _, one := range disasters() {
		t.Run(one.name, func(t *testing.T) {
			r := newReport(t, seeded)
			checks := one.run(t, binaries, seeded, r)
			rows = append(rows, row{label: one.name})
			for _, c := range checks.checks {
				rows[len(rows)-1].cells[c.of].add(c)
			}
			r.summary(checks, nil)
			require.Empty(t, checks.violations(), "seed %d, see %s", seeded, r.dir)
		})
	}
	fmt.Printf("\nChecks of each disaster, by invariant, seed %d:\n\n%s\n", seeded, formatTable("disaster", rows))
}

// disasters returns all disasters.
func disasters() []disaster { return slices.Concat(eventDisasters(), recordDisasters()) }

// run runs the disaster under load and checks the invariants.
func (one disaster) run(t *testing.T, binaries string, seeded int64, r *report) *results {
	t.Helper()
	one.options.binaries, one.options.logs, one.options.slowCommits = binaries, r.dir, true
	f := newFixture(t, newDeployment(t, one.options), seeded, 0)
	turn := uint64(seeded) + nameSeed(one.name)
	d := &drill{
		fixture: f, printf: r.printf, variant: one.variant, topic: f.config.Topic(),
		turn: turn, draw: mathrand.New(mathrand.NewPCG(turn, 0)),
	}
	supervised := &injector{deployment: f.deployment, printf: r.printf, restarts: map[string]int{}}
	supervising, stop := context.WithCancel(t.Context())
	defer stop()
	go supervised.supervise(supervising)
	run := func(ctx context.Context, name string, do step) {
		if do != nil {
			r.printf("%s %s", time.Now().Format("15:04:05.000"), name)
			do(ctx, t, d)
		}
	}
	f.useDuring(t, func(ctx context.Context) {
		sleep(ctx, d.about(loadBefore))
		d.prepared = time.Now()
		d.readFrom = d.prepared
		run(ctx, "prepare: "+one.name, one.prepare)
		sleep(ctx, d.about(loadBetween))
		run(ctx, "go back", one.goBack)
		d.wentBack = time.Now()
		run(ctx, "recover", one.recover)
		sleep(ctx, d.about(loadAfter))
	})
	run(t.Context(), "after the load", one.after)
	f.checkAll(t, timeouts{feed: time.Minute, webhooks: 2 * time.Minute, stock: time.Minute}, r.printf)
	supervised.lock.Lock()
	defer supervised.lock.Unlock()
	require.NoError(t, supervised.err)
	return f.results
}

func nameSeed(name string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name)) // It never fails.
	return hash.Sum64()
}

func (d *drill) about(length time.Duration) time.Duration {
	return length + time.Duration(d.draw.Int64N(int64(spread)))
}

// restoreAll restores what prepare has backed up.
func restoreAll(ctx context.Context, t *testing.T, d *drill) {
	t.Helper()
	for _, restore := range d.restores {
		restore(ctx, t)
	}
}

// stop stops the instances of a program until start is called.
func (d *drill) stop(ctx context.Context, program identity.Name) (start func() error) {
	instances := d.of(program)
	for _, i := range instances {
		i.busy.Lock()
		i.kill()
	}
	return func() error {
		for _, i := range instances {
			if err := i.start(ctx); err != nil {
				return err
			}
			i.busy.Unlock()
		}
		return nil
	}
}
