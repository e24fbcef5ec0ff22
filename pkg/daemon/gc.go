package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// headroom is how many bytes of garbage a heap gathers before a collection, but at least minPercent and at most maxPercent of
	// what is live.
	headroom = 32 << 20
	// With Go's default of 100, a service that has a few megabytes live and allocates for each request would collect many times a
	// second although memory is free.
	maxPercent = 400
	// At maxPercent, a gateway that holds thousands of calls would take five times their memory.
	minPercent = 50
)

// TuneGC sets how far the heap grows before it is collected, and adapts that to what is live, unless the environment sets GOGC. A
// container's limit belongs in GOMEMLIMIT, which makes Go collect earlier when memory runs low.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(maxPercent)
		afterEachCollection(func() { debug.SetGCPercent(percentFor(liveBytes())) })
	}
}

// percentFor returns GOGC for a number of live bytes.
func percentFor(live uint64) int {
	return int(min(max(100*headroom/max(live, 1), minPercent), maxPercent))
}

// liveBytes returns the bytes that the last collection found live, and those of stacks and globals. Go sets the time of the next
// collection by their sum.
func liveBytes() (bytes uint64) {
	found := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/stack:bytes"}, {Name: "/gc/scan/globals:bytes"}}
	metrics.Read(found)
	for _, sample := range found {
		bytes += sample.Value.Uint64()
	}
	return bytes
}

// afterEachCollection calls work whenever garbage was collected. It leaves some garbage, whose cleanup is the call.
func afterEachCollection(work func()) {
	type garbage struct{ _ *garbage }
	runtime.AddCleanup(&garbage{}, func(work func()) {
		work()
		afterEachCollection(work)
	}, work)
}
