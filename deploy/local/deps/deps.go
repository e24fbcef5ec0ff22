// Package deps starts what the platform stands on: PostgreSQL, Redis and Kafka. The local stack and the tests use it.
//
// Each Start function follows the same contract. An address that is given is used as it is, and nothing is started.
// Otherwise the dependency is started on the given loopback port, with its data in the given directory, and the
// function returns when it answers. The context bounds the start only; Stop ends what was started and nothing else.
//
// Data survives a restart. One process at a time may use a data directory; a second one is refused. A process that
// was killed leaves at worst an orphaned server behind, which the next start on the same directory ends first.
package deps

import (
	"context"
	"os"
	"sync"
)

// Kind tells what answers at an address.
type Kind string

// The kinds of a dependency.
const (
	Given    Kind = "given"    // the caller named the address
	Server   Kind = "server"   // a server program of this machine
	Apache   Kind = "apache"   // Apache Kafka on Java
	Embedded Kind = "embedded" // inside this process
)

// Instance is a dependency that answers at Address: a URL, or for Kafka host:port pairs separated by commas.
type Instance struct {
	Address string
	Kind    Kind

	exited   <-chan struct{}
	stopOnce sync.Once
	stopErr  error
	stop     func(ctx context.Context) error
	signal   func(signal os.Signal) error
}

// Signal sends a signal to a started server process, for tests of what its failure does to others. Any other dependency
// has no process, and nothing happens.
func (i *Instance) Signal(signal os.Signal) error {
	if i.signal == nil {
		return nil
	}
	return i.signal(signal)
}

// Stop ends the dependency and waits for it; a server still running when ctx ends is killed. Only the first call acts,
// every call returns its result. Stopping a given dependency does nothing.
func (i *Instance) Stop(ctx context.Context) error {
	i.stopOnce.Do(func() {
		if i.stop != nil {
			i.stopErr = i.stop(ctx)
		}
	})
	return i.stopErr
}

// Exited is closed when a started server process has ended, by Stop or by itself. It is nil, and so blocks for ever,
// when there is no such process.
func (i *Instance) Exited() <-chan struct{} {
	return i.exited
}

func given(address string) *Instance {
	return &Instance{Address: address, Kind: Given}
}

// serverInstance owns a server process and the lock on its directory.
func serverInstance(address string, kind Kind, server *process, lock *dirLock) *Instance {
	return &Instance{
		Address: address,
		Kind:    kind,
		exited:  server.done,
		signal:  server.cmd.Process.Signal,
		stop: func(ctx context.Context) error {
			defer lock.release()
			return server.stop(ctx)
		},
	}
}
