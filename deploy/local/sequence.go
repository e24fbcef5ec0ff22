package local

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
)

const (
	readyTimeout = 60 * time.Second
	readyPoll    = 20 * time.Millisecond
	stopTimeout  = 30 * time.Second
)

// sequence is what was started, in order. It is used by one goroutine; failed may be read by another.
type sequence struct {
	log   *slog.Logger
	parts []part
	// failed holds the first failure of a part that nobody had asked to end.
	failed   chan error
	failOnce sync.Once
}

type part struct {
	name string
	stop func(ctx context.Context) error
}

func newSequence(log *slog.Logger) *sequence {
	return &sequence{log: log, failed: make(chan error, 1)}
}

// add notes how to stop what has been started elsewhere. exited, if not nil, tells that it has ended.
func (s *sequence) add(name string, exited <-chan struct{}, stop func(ctx context.Context) error) {
	asked := make(chan struct{})
	if exited != nil {
		go func() {
			select {
			case <-asked:
			case <-exited:
				s.fail(fmt.Errorf("%s: %w", name, errExited))
			}
		}()
	}
	s.parts = append(s.parts, part{name: name, stop: func(ctx context.Context) error {
		close(asked)
		return stop(ctx)
	}})
}

var errExited = errors.New("ended although nobody asked it to")

// start runs a part and returns when ready says nil. The part goes on when ctx ends: only stop ends it.
func (s *sequence) start(ctx context.Context, p daemon.Part, ready func(ctx context.Context) error) error {
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	var ended error
	go func() {
		defer close(done)
		if ended = daemon.Run(running, s.log, p); ended != nil && running.Err() == nil {
			s.fail(ended)
		}
	}()
	s.parts = append(s.parts, part{name: p.Name, stop: func(ctx context.Context) error {
		cancel()
		select {
		case <-done:
			return ended
		case <-ctx.Done():
			return fmt.Errorf("%s does not end: %w", p.Name, ctx.Err())
		}
	}})
	err := until(ctx, done, ready)
	select {
	case <-done:
		return ended
	default:
		if err != nil {
			return fmt.Errorf("%s does not get ready: %w", p.Name, err)
		}
		return nil
	}
}

func (s *sequence) fail(err error) {
	s.failOnce.Do(func() { s.failed <- err })
}

// stop ends everything in reverse order.
func (s *sequence) stop(ctx context.Context) error {
	var faults []error
	for _, p := range slices.Backward(s.parts) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		faults = append(faults, p.stop(ctx))
		cancel()
	}
	s.parts = nil
	return errors.Join(faults...)
}

// until waits for ready to say nil. It gives up when the part has ended, after readyTimeout, and with ctx.
func until(ctx context.Context, ended <-chan struct{}, ready func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	ticker := time.NewTicker(readyPoll)
	defer ticker.Stop()
	for {
		err := ready(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return err
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-ticker.C:
		}
	}
}
