package deps

import "syscall"

// quitWithParent makes the kernel send the signal when the thread that started the child ends.
func quitWithParent(attributes *syscall.SysProcAttr, signal syscall.Signal) {
	attributes.Pdeathsig = signal
}
