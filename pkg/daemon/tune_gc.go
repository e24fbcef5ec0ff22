package daemon

import (
	"os"
	"runtime/debug"
)

// collectAt is GOGC where the environment does not say it. A service keeps a few megabytes alive and allocates for each
// request: at Go's 100 it would collect many times a second to hold a heap small that has room. A container's limit
// belongs into GOMEMLIMIT, which collects earlier when it gets tight.
const collectAt = 400

// TuneGC lets the process's heap grow before it is collected, unless GOGC says how far.
func TuneGC() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
}
