//go:build !linux

package deps

import "syscall"

// quitWithParent does nothing here: the server outlives a killed stack, and the next start ends it.
func quitWithParent(*syscall.SysProcAttr, syscall.Signal) {}
