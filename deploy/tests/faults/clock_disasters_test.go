//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/identity"
)

const (
	// clockAhead is how far the clock of the orders database goes ahead, and clockBehind how far that of its replica is behind.
	clockAhead, clockBehind = 40 * time.Second, -3 * time.Second
	clockSource             = "orders"
)

// clocksDiffer lets the clock of the orders database go ahead under load. Then its replica, whose clock is behind, takes over
// without a loss.
func clocksDiffer() disaster {
	return disaster{
		name:    "clock ahead and then behind",
		options: options{ownServers: []string{clockSource}, fakeClock: true},
		prepare: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.setClock(ctx, t, clockSource, clockAhead)
		},
		goBack: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.checkClock(ctx, t, clockAhead)
			own := d.dedicated[clockSource]
			own.busy.Lock()
			defer own.busy.Unlock()
			data := queryOne[string](ctx, t, own.instance.Address, "SHOW data_directory")
			require.NoError(t, own.end(ctx, syscall.SIGINT))
			writeClock(t, d.clockFile, clockBehind)
			require.NoError(t, os.WriteFile(filepath.Join(data, "standby.signal"), nil, 0o600))
			require.NoError(t, own.start(ctx))
			d.exec(ctx, t, own.instance.Address, "SELECT pg_promote()")
		},
		after: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.checkClock(ctx, t, clockBehind)
		},
	}
}

// monthAhead lets the clock of the events database go ahead by more than the feed keeps events. Its programs start under that
// clock, and drop old events as soon as they start. Later the clock is right again.
func monthAhead() disaster {
	const ahead, database = 40 * 24 * time.Hour, "events"
	return disaster{
		name:    "clock a month ahead",
		options: options{ownServers: []string{database}, fakeClock: true},
		goBack: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.setClock(ctx, t, database, ahead)
			restart := d.stop(ctx, identity.Events)
			require.NoError(t, restart())
			d.awaitReaders(ctx, t)
			d.awaitMaintenance(ctx, t)
		},
		recover: func(ctx context.Context, t *testing.T, d *drill) {
			t.Helper()
			d.setClock(ctx, t, database, 0)
		},
		after: redriveFindsNothing,
	}
}

// awaitMaintenance waits until each instance of events has dropped what it takes for old.
func (d *drill) awaitMaintenance(ctx context.Context, t *testing.T) {
	t.Helper()
	for _, i := range d.of(identity.Events) {
		done := waitFor(catchUp, func() bool {
			return len(i.metric(ctx, t, `gifting_periodic_runs_total{`, `work="feed maintenance"`)) > 0
		})
		require.True(t, done, "%s has not maintained the feed", i.name)
	}
}

// fakeClock returns a file that says how far the clocks of servers with the environment are ahead.
func fakeClock(t *testing.T) (file string, env []string) {
	t.Helper()
	library, err := deps.Faketime(t.Context())
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "clock") //nolint:usetesting // The user of the server cannot enter the folders of a test.
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755)) //nolint:gosec // The same.
	file = filepath.Join(dir, "faketime")
	writeClock(t, file, 0)
	return file, []string{
		"LD_PRELOAD=" + library, "FAKETIME_TIMESTAMP_FILE=" + file, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
	}
}

// writeClock replaces the file: a server never reads half of it.
func writeClock(t *testing.T, file string, ahead time.Duration) {
	t.Helper()
	text := fmt.Sprintf("%+d\n", int(ahead.Seconds()))
	require.NoError(t, os.WriteFile(file+".new", []byte(text), 0o644))
	require.NoError(t, os.Rename(file+".new", file))
}

// setClock sets the clock of the running server of a database.
func (d *drill) setClock(ctx context.Context, t *testing.T, database string, ahead time.Duration) {
	t.Helper()
	writeClock(t, d.clockFile, ahead)
	now := queryOne[time.Time](ctx, t, d.dedicated[database].instance.Address, "SELECT clock_timestamp()")
	require.InDelta(t, ahead.Seconds(), time.Until(now).Seconds(), 1)
}

// checkClock requires that the relay has measured the clock.
func (d *drill) checkClock(ctx context.Context, t *testing.T, ahead time.Duration) {
	t.Helper()
	var measured []float64
	for _, i := range d.of(identity.Events) {
		measured = append(measured, i.metric(ctx, t, `gifting_relay_clock_offset_seconds{`, `source="`+clockSource+`"`)...)
	}
	found := false
	for _, seconds := range measured {
		found = found || seconds > ahead.Seconds()-1 && seconds < ahead.Seconds()+1
	}
	d.require(found, loss, d.prepared, time.Now(), "the relay measures a clock that is %s ahead as %v", ahead, measured)
}
