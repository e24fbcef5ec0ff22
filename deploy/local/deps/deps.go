// Package deps starts the servers that the platform needs: PostgreSQL, Redis and Kafka. The local stack and the tests use it.
//
// Each Start function has the same contract. A server that is configured by address is used and not changed. Otherwise one is
// started on the loopback port with its data in the directory, and the function returns when it responds. The context bounds
// the start only; Stop ends what was started and nothing else.
//
// Data survives a restart. Only one process at a time may use a data directory; a second one gets an error. A process that
// was killed may leave an orphaned server behind; the next start on the same directory ends it first.
package deps

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
)

// Kind of a server.
type Kind string

// The kinds of a server.
const (
	Given    Kind = "given"    // configured by address
	Server   Kind = "server"   // a server program of this machine
	Apache   Kind = "apache"   // Apache Kafka on Java
	Embedded Kind = "embedded" // inside this process
)

// Instance is a running server. Address is a URL, or for Kafka host:port pairs separated by commas.
type Instance struct {
	Name    string
	Address string
	Kind    Kind

	process  *process // nil: none was started
	lock     *os.File // nil: no directory is in use
	stop     func(ctx context.Context) error
	stopOnce sync.Once
	stopErr  error
}

// Signal sends a signal to the server process, for tests of failures. Without a process it does nothing.
func (i *Instance) Signal(signal os.Signal) error {
	if i.process == nil {
		return nil
	}
	return i.process.cmd.Process.Signal(signal)
}

// Stop ends the server and waits for it; a process that still runs when ctx ends is killed. Only the first call acts; every
// call returns its result. A server that was configured by address keeps running.
func (i *Instance) Stop(ctx context.Context) error {
	i.stopOnce.Do(func() {
		if i.stop != nil {
			i.stopErr = i.stop(ctx)
		}
		if i.lock != nil {
			_ = i.lock.Close()
		}
	})
	return i.stopErr
}

// Exited is closed when the server process has ended. It is nil, and so blocks forever, if there is no process.
func (i *Instance) Exited() <-chan struct{} {
	if i.process == nil {
		return nil
	}
	return i.process.done
}

// Set is the servers of a stack or of a test run.
type Set struct{ PostgreSQL, Redis, Kafka *Instance }

// Start starts all three servers. If one fails, the others are stopped.
func Start(ctx context.Context, postgres PostgreSQLConfig, redis RedisConfig, kafka KafkaConfig) (*Set, error) {
	s := &Set{}
	for _, start := range []func() error{
		func() (err error) { s.PostgreSQL, err = StartPostgreSQL(ctx, postgres); return err },
		func() (err error) { s.Redis, err = StartRedis(ctx, redis); return err },
		func() (err error) { s.Kafka, err = StartKafka(ctx, kafka); return err },
	} {
		if err := start(); err != nil {
			return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
		}
	}
	return s, nil
}

// All returns the servers in the order of their start.
func (s *Set) All() []*Instance {
	var all []*Instance
	for _, i := range []*Instance{s.PostgreSQL, s.Redis, s.Kafka} {
		if i != nil {
			all = append(all, i)
		}
	}
	return all
}

// Stop stops all servers.
func (s *Set) Stop(ctx context.Context) error {
	var errs []error
	for _, i := range s.All() {
		errs = append(errs, i.Stop(ctx))
	}
	return errors.Join(errs...)
}

// ErrLocked means that another process holds a lock.
var ErrLocked = errors.New("another process uses this folder")

// locked calls start while it holds the data directory. The instance then keeps the lock until it stops or this process ends.
func locked(dir string, start func() (*Instance, error)) (*Instance, error) {
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return nil, err
	}
	held, err := Lock(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	instance, err := start()
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	instance.lock = held
	return instance, nil
}

// Lock locks the file until it is closed or the process ends. If another process holds it, that is ErrLocked.
func Lock(path string) (*os.File, error) { return lock(path, syscall.LOCK_EX|syscall.LOCK_NB) }

func lock(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // The path is the caller's choice.
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	for {
		err = syscall.Flock(int(file.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}
