package bench_test

import (
	"syscall"
	"time"
)

// await returns when the moment has come. Go's timers are up to a millisecond late on an idle Linux, which is more than
// some requests take.
func await(due time.Time) {
	for left := time.Until(due); left > 0; left = time.Until(due) {
		pause := syscall.NsecToTimespec(left.Nanoseconds())
		_ = syscall.Nanosleep(&pause, nil) // Where a signal ends it, it is called again.
	}
}
