//go:build faults

package faults_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// killed ends the instances and starts them again after a while.
func killed(ctx context.Context, instances []*instance, down time.Duration) error {
	for _, i := range instances {
		i.end()
	}
	pauseFor(ctx, down)
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
	pauseFor(ctx, d)
	return i.signal(syscall.SIGCONT)
}

func (s *server) restart(ctx context.Context, signal os.Signal, down time.Duration) error {
	if err := s.end(ctx, signal); err != nil {
		return err
	}
	pauseFor(ctx, down)
	return s.start(ctx)
}

func (s *server) pause(ctx context.Context, d time.Duration) error {
	err := s.instance.Signal(syscall.SIGSTOP)
	pauseFor(ctx, d)
	return errors.Join(err, s.instance.Signal(syscall.SIGCONT))
}

// of gives the links of a class.
func (n *network) of(class string) []*link {
	return slices.DeleteFunc(slices.Clone(n.links), func(l *link) bool { return l.class != class })
}
