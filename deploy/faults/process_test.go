//go:build faults

package faults_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// startWithin bounds the start of anything.
const startWithin = 2 * time.Minute

// instance is a program of the platform as a process that a supervisor starts again when it ends.
type instance struct {
	// program is its name, and that of its twin; name is its own.
	program, name string
	path, log     string
	env           []string
	// addr is where it listens, metrics where it answers /readyz.
	addr, metrics string

	// busy is held by the one fault that is under way with this instance.
	busy    sync.Mutex
	command *exec.Cmd
	exited  chan struct{}
}

var errNoInstance = errors.New("does not take connections")

// start returns when the instance takes connections. One that ends because a server is down is started again.
func (i *instance) start(ctx context.Context) error {
	deadline := time.Now().Add(startWithin)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if err := i.launch(ctx); err != nil {
			return err
		}
		if i.listens(ctx, deadline) {
			return nil
		}
		i.end()
		pauseFor(ctx, 200*time.Millisecond)
	}
	return fmt.Errorf("%s %w, see %s", i.name, errNoInstance, i.log)
}

func (i *instance) launch(ctx context.Context) error {
	output, err := os.OpenFile(i.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	i.command = exec.CommandContext(context.WithoutCancel(ctx), i.path, "serve")
	i.command.Env, i.command.Stdout, i.command.Stderr = i.env, output, output
	if err := i.command.Start(); err != nil {
		return errors.Join(err, output.Close())
	}
	exited, command := make(chan struct{}), i.command
	i.exited = exited
	go func() {
		_ = command.Wait() // It is killed, or its log says why it ended.
		_ = output.Close()
		close(exited)
	}()
	return nil
}

func (i *instance) listens(ctx context.Context, deadline time.Time) bool {
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if conn, err := new(net.Dialer).DialContext(ctx, "tcp", i.addr); err == nil {
			_ = conn.Close()
			return true
		}
		select {
		case <-i.exited:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// end kills the instance.
func (i *instance) end() {
	if i.command != nil && i.command.Process != nil {
		_ = i.command.Process.Kill()
		<-i.exited
	}
}

func (i *instance) signal(signal syscall.Signal) error { return i.command.Process.Signal(signal) }

// ended says whether the instance has ended by itself.
func (i *instance) ended() bool {
	select {
	case <-i.exited:
		return true
	default:
		return false
	}
}

// pauseFor waits without a clock of its own to hold on to.
func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
