//go:build !linux && !darwin

package postgres

// nothingToRead does not know, so idle connections are pinged.
func nothingToRead(uintptr) bool { return false }
