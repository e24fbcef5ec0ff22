//go:build !linux

package postgres

import "time"

// setUserTimeout leaves the time to the system.
func setUserTimeout(uintptr, time.Duration) error { return nil }
