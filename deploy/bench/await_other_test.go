//go:build !linux

package bench_test

import "time"

// await returns when the moment has come.
func await(due time.Time) {
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	<-timer.C
}
