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

	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/deploy/programs"
)

// startTimeout bounds the start of any process.
const startTimeout = 2 * time.Minute

// instance is one of the two processes of a program. A supervisor starts it again when it ends.
type instance struct {
	program   programs.Program
	name      string
	path, log string
	env       []string
	// addr is where it listens, metrics where it answers /readyz.
	addr, metrics string

	// busy is held by the fault that uses the instance.
	busy    sync.Mutex
	command *exec.Cmd
	exited  chan struct{}
}

var errNotListening = errors.New("does not accept connections")

// start returns when the instance accepts connections. If it ends because a server is down, it is started again.
func (i *instance) start(ctx context.Context) error {
	deadline := time.Now().Add(startTimeout)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if err := i.launch(ctx); err != nil {
			return err
		}
		if i.listens(ctx, deadline) {
			return nil
		}
		i.kill()
		sleep(ctx, 200*time.Millisecond)
	}
	return fmt.Errorf("%s %w, see %s", i.name, errNotListening, i.log)
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
		_ = command.Wait() // It was killed, or its log says why it ended.
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

func (i *instance) kill() {
	if i.command != nil && i.command.Process != nil {
		_ = i.command.Process.Kill()
		<-i.exited
	}
}

// killFor kills the instances and starts them again after a while.
func killFor(ctx context.Context, instances []*instance, down time.Duration) error {
	for _, i := range instances {
		i.kill()
	}
	sleep(ctx, down)
	var group errgroup.Group
	for _, i := range instances {
		group.Go(func() error { return i.start(ctx) })
	}
	return group.Wait()
}

func (i *instance) pause(ctx context.Context, d time.Duration) error {
	if err := i.signal(syscall.SIGSTOP); err != nil {
		return i.start(ctx) // It had ended because a server was down.
	}
	sleep(ctx, d)
	return i.signal(syscall.SIGCONT)
}

func (i *instance) signal(signal syscall.Signal) error { return i.command.Process.Signal(signal) }

// ended reports whether the instance has ended by itself.
func (i *instance) ended() bool {
	select {
	case <-i.exited:
		return true
	default:
		return false
	}
}

// sleep returns after d, or when ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
