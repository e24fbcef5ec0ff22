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

// writer makes changes, each of the next tenant, and notes when each was answered.
type writer struct {
	change  makeChange
	tenants []tenant

	lock sync.Mutex
	// answered holds the measured changes by their record.
	answered map[string]time.Time
	// endpoints are the indexes of their tenants.
	endpoints map[string]int
	faults    []error
}

func newWriter(change makeChange, tenants []tenant) *writer {
	return &writer{
		change: change, tenants: tenants,
		answered: map[string]time.Time{}, endpoints: map[string]int{},
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
		timer.Reset(time.Until(began.Add(time.Duration(i) * every)))
		<-timer.C
		calls.Go(func() { w.makeOne(b.Context(), i%len(w.tenants), i >= skip) })
	}
	calls.Wait()
	require.Empty(b, w.faults)
	require.Len(b, w.answered, n-skip)
}

func (w *writer) makeOne(ctx context.Context, index int, counts bool) {
	id, err := w.change(ctx, w.tenants[index])
	now := time.Now()
	w.lock.Lock()
	defer w.lock.Unlock()
	switch {
	case err != nil:
		w.faults = append(w.faults, err)
	case counts:
		w.answered[id] = now
		w.endpoints[id] = index
	}
}
