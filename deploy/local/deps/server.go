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

const (
	// startTimeout bounds the start of one server, including recovery after a crash.
	startTimeout = 2 * time.Minute
	// pollInterval is how often a starting or stopping server is checked.
	pollInterval = 25 * time.Millisecond
)

// server describes a server program before it runs.
type server struct {
	name    string
	address string
	kind    Kind
	port    int

	path  string
	argv0 string // the name the program is called by, when not path
	args  []string
	env   []string // further variables
	dir   string   // its working directory, which no other server uses
	user  *serverUser
	quit  syscall.Signal // for an orderly stop
	log   string
	// ready returns nil when the server answers.
	ready func(ctx context.Context) error

	pidFile   string
	writesPID bool // the server writes the pid file itself
}

// process is a running server program.
type process struct {
	server
	cmd  *exec.Cmd
	done chan struct{}
	err  error // set before done is closed
}

// start ends orphans of an earlier run, starts the program and returns when it answers.
func (s server) start(ctx context.Context) (*Instance, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.endOrphans(ctx); err != nil {
		return nil, err
	}
	if err := s.user.own(s.dir); err != nil {
		return nil, err
	}
	if err := RequireFree(ctx, s.name, s.port); err != nil {
		return nil, err
	}
	running, err := s.run(ctx)
	if err != nil {
		return nil, err
	}
	if err := running.untilReady(ctx); err != nil {
		return nil, err
	}
	return &Instance{Name: s.name, Address: s.address, Kind: s.kind, process: running, stop: running.stop}, nil
}

// run starts the program in its own process group, so that Ctrl-C in the terminal reaches only the stack, which then stops
// its servers in order. On Linux the kernel tells the server to quit when this process dies. That request is bound to the
// thread that starts the child, so one goroutine keeps its thread until the end.
func (s server) run(ctx context.Context) (*process, error) {
	logFile, err := FreshLog(s.log)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), s.path, s.args...) //nolint:gosec // Programs found or installed here.
	cmd.Dir = s.dir
	if len(s.env) > 0 {
		cmd.Env = append(os.Environ(), s.env...)
	}
	if s.argv0 != "" {
		cmd.Args[0] = s.argv0
	}
	cmd.Stdout, cmd.Stderr = logFile, logFile
	cmd.SysProcAttr = s.user.attributes()
	cmd.SysProcAttr.Setpgid = true
	quitWithParent(cmd.SysProcAttr, s.quit)

	child := &process{server: s, cmd: cmd, done: make(chan struct{})}
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
		return nil, fmt.Errorf("start %s: %w", s.name, err)
	}
	if err := s.recordPID(cmd.Process.Pid); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", s.name, err), child.stop(ctx))
	}
	return child, nil
}

// FreshLog opens a new log and renames the log of the previous run, which may show why that run ended.
func FreshLog(path string) (*os.File, error) {
	if err := os.Rename(path, path+".previous"); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("rotate log: %w", err)
	}
	file, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	return file, nil
}

var errExited = errors.New("the server ended during its start")

// untilReady waits until the server answers. If it ends first or does not answer in time, the error shows the end of its
// log, and the server no longer runs.
func (p *process) untilReady(ctx context.Context) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		attempt, cancel := context.WithTimeout(ctx, 5*time.Second)
		answer := p.ready(attempt)
		cancel()
		if answer == nil {
			return nil
		}
		select {
		case <-p.done:
			return fmt.Errorf("%s: %w: %w\n%s", p.name, errExited, p.err, p.logTail())
		case <-ctx.Done():
			stopped := p.kill()
			return errors.Join(fmt.Errorf("%s does not respond: %w: %w\n%s", p.name, ctx.Err(), answer, p.logTail()), stopped)
		case <-ticker.C:
		}
	}
}

// stop asks the server to quit and waits for it. It kills the server when ctx ends first.
func (p *process) stop(ctx context.Context) error {
	if err := p.cmd.Process.Signal(p.quit); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop %s: %w", p.name, err)
	}
	select {
	case <-p.done:
		return p.forgetPID()
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
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	text = bytes.TrimSpace(text)
	return string(text[max(0, len(text)-limit):])
}
