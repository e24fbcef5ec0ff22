package daemon

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

const (
	// collectAt is GOGC while little is alive, if the environment does not set it. A service keeps a few megabytes alive and allocates
	// for each request. With Go's default of 100 it would collect many times a second although memory is free.
	collectAt = 400
	// headroom is how many bytes of garbage a heap may gather if more is alive, but at least collectAtLeast percent of that.
	// Otherwise a gateway that holds thousands of calls would take five times their memory.
	headroom       = 32 << 20
	collectAtLeast = 50
)

// TuneGC sets how far the heap grows before it is collected, and adapts that to what is alive, unless the environment sets GOGC. A
// container's limit belongs into GOMEMLIMIT, which makes Go collect earlier when memory runs low.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
		afterEachCollection(func() { debug.SetGCPercent(percentOf(aliveBytes())) })
	}
}

// percentOf returns GOGC for a number of bytes that are alive.
func percentOf(alive uint64) int {
	return int(min(max(100*headroom/max(alive, 1), collectAtLeast), collectAt))
}

// aliveBytes returns the bytes that the last collection found alive, and those of stacks, from which Go reckons the next one.
func aliveBytes() (bytes uint64) {
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
