package deps

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// endOrphans stops the processes of the program that an earlier, killed run left in its directory, and waits until
// they are gone. The caller holds the lock of the data directory, so whoever still works there has no owner any more.
func (p program) endOrphans(ctx context.Context) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	told := map[int]bool{}
	for {
		pids, err := p.orphans()
		if err != nil {
			return fmt.Errorf("look for an earlier %s: %w", p.name, err)
		}
		if len(pids) == 0 {
			return p.forgetPID()
		}
		for _, pid := range pids {
			if told[pid] {
				continue
			}
			told[pid] = true
			if err := syscall.Kill(pid, p.quit); err != nil && !errors.Is(err, syscall.ESRCH) {
				return fmt.Errorf("stop %s, process %d, left by an earlier run: %w", p.name, pid, err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s, processes %v, left by an earlier run do not stop: %w", p.name, pids, ctx.Err())
		case <-ticker.C:
		}
	}
}
