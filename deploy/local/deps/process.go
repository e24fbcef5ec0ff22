package deps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// pollInterval is how often a starting or stopping server is looked at.
const pollInterval = 25 * time.Millisecond

// process is a server program run as a child.
type process struct {
	name    string
	cmd     *exec.Cmd
	quit    syscall.Signal
	logPath string
	done    chan struct{}
	err     error // set before done is closed
}

// program describes a server before it runs.
type program struct {
	name string
	path string
	as   string // what the program is told it is called, when not path
	args []string
	dir  string // its working directory, which no other server has
	user *serverUser
	quit syscall.Signal // stops it in an orderly way
	log  string

	pidFile   string
	writesPID bool // the server writes the pid file itself
}

// run starts the program in its own process group, so that Ctrl-C in the terminal reaches only the stack, which then
// stops its servers in order. Where the kernel can do it, the server is told to quit when this process dies. That
// request is bound to the thread that starts the child, which is why one goroutine keeps its thread until the end.
func (p program) run(ctx context.Context) (*process, error) {
	logFile, err := freshLog(p.log)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), p.path, p.args...) //nolint:gosec // programs found or installed here
	cmd.Dir = p.dir
	if p.as != "" {
		cmd.Args[0] = p.as
	}
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = p.user.attributes()
	cmd.SysProcAttr.Setpgid = true
	quitWithParent(cmd.SysProcAttr, p.quit)

	child := &process{name: p.name, cmd: cmd, quit: p.quit, logPath: p.log, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = logFile.Close() }()
		if err := cmd.Start(); err != nil {
			started <- err
			return
		}
		started <- nil
		child.err = cmd.Wait()
		close(child.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", p.name, err)
	}
	if err := p.recordPID(cmd.Process.Pid); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", p.name, err), child.stop(ctx))
	}
	return child, nil
}

// freshLog keeps the log of the run before, which is the one that tells why it ended.
func freshLog(path string) (*os.File, error) {
	if err := os.Rename(path, path+".previous"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("rotate log: %w", err)
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return file, nil
}

var errExited = errors.New("the server ended while starting")

// untilReady waits until the server answers. A server that ends first, or does not answer in time, is an error that
// shows the end of its log; it is then no longer running.
func (p *process) untilReady(ctx context.Context, ready func(context.Context) error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		answer := ready(attempt)
		cancel()
		if answer == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s: %w: %w\n%s", p.name, errExited, p.err, p.logTail())
		case <-ctx.Done():
			stopped := p.kill()
			return errors.Join(fmt.Errorf("%s does not answer: %w: %w\n%s", p.name, ctx.Err(), answer, p.logTail()), stopped)
		case <-ticker.C:
		}
	}
}

// stop asks the server to quit and waits for it, killing it when ctx ends first.
func (p *process) stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(p.quit); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("stop %s: killed: %w", p.name, ctx.Err()), p.kill())
	}
}

func (p *process) kill() error {
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("kill %s: %w", p.name, err)
	}
	<-p.done
	return nil
}

// logTail is the end of the server's log, for error messages.
func (p *process) logTail() string {
	const limit = 2000
	text, err := os.ReadFile(p.logPath)
	if err != nil {
		return err.Error()
	}
	text = bytes.TrimSpace(text)
	if len(text) > limit {
		text = text[len(text)-limit:]
	}
	return string(text)
}
