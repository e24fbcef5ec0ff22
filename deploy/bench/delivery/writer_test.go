package delivery_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// warmUp comes before what is measured, at the same rate.
const warmUp = 3 * time.Second

// writer makes changes, each of the next tenant, and notes when each was due and when it was answered.
type writer struct {
	change  makeChange
	tenants []tenant

	lock sync.Mutex
	// due and answered hold the measured changes by their record. A change is due by the clock: what counts from there
	// has the waits in it that come before the record, also where this process or the platform falls behind.
	due, answered map[string]time.Time
	// late is the most that a measured call began after it was due.
	late time.Duration
	// endpoints are the indexes of their tenants.
	endpoints map[string]int
	faults    []error
}

func newWriter(change makeChange, tenants []tenant) *writer {
	return &writer{
		change: change, tenants: tenants,
		due: map[string]time.Time{}, answered: map[string]time.Time{}, endpoints: map[string]int{},
	}
}

// run makes changes at the rate for the warm-up and then for the given time. A change is due by the clock, whatever
// has become of those before.
func (w *writer) run(b *testing.B, perSecond int, measured time.Duration) {
	b.Helper()
	every := time.Second / time.Duration(perSecond)
	skip := int(warmUp / every)
	n := skip + int(measured/every)
	var calls sync.WaitGroup
	timer := time.NewTimer(0)
	defer timer.Stop()
	began := time.Now()
	for i := range n {
		due := began.Add(time.Duration(i) * every)
		timer.Reset(time.Until(due))
		<-timer.C
		calls.Go(func() { w.makeOne(b.Context(), i%len(w.tenants), due, i >= skip) })
	}
	calls.Wait()
	require.Empty(b, w.faults)
	require.Len(b, w.answered, n-skip)
}

func (w *writer) makeOne(ctx context.Context, index int, due time.Time, counts bool) {
	late := time.Since(due)
	id, err := w.change(ctx, w.tenants[index])
	now := time.Now()
	w.lock.Lock()
	defer w.lock.Unlock()
	switch {
	case err != nil:
		w.faults = append(w.faults, err)
	case counts:
		w.due[id], w.answered[id] = due, now
		w.late = max(w.late, late)
		w.endpoints[id] = index
	}
}
