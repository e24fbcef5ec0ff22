package delivery_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// warmUp comes before the measured time, at the same rate.
const warmUp = 3 * time.Second

// writer makes changes, each of the next tenant, and records when each was due and when it was answered.
type writer struct {
	change  makeChange
	tenants []tenant

	lock sync.Mutex
	// due and answered hold the measured changes by their record. A change is due by the clock: a latency from there
	// includes the waits before the record, also where this process or the platform falls behind.
	due, answered map[string]time.Time
	// endpoints are the indexes of their tenants.
	endpoints map[string]int
	// late is how late the latest measured call began.
	late time.Duration
}

func newWriter(change makeChange, tenants []tenant) *writer {
	return &writer{
		change: change, tenants: tenants,
		due: map[string]time.Time{}, answered: map[string]time.Time{}, endpoints: map[string]int{},
	}
}

// run makes changes at the rate for the warm-up and then for the measured time.
func (w *writer) run(b *testing.B, perSecond int, measured time.Duration) {
	b.Helper()
	w.late = fixture.AtRate(b, perSecond, warmUp, measured, func(c fixture.Call) error {
		index := c.Index % len(w.tenants)
		id, err := w.change(b.Context(), w.tenants[index])
		now := time.Now()
		if err == nil && c.Measured {
			w.lock.Lock()
			defer w.lock.Unlock()
			w.due[id], w.answered[id], w.endpoints[id] = c.Due, now, index
		}
		return err
	})
	require.Len(b, w.answered, int(measured/(time.Second/time.Duration(perSecond))))
}
