//go:build !linux

package deps

import "syscall"

// quitWithParent can do nothing here: a server outlives a killed stack, and endOrphan stops it on the next start.
func quitWithParent(*syscall.SysProcAttr, syscall.Signal) {}
