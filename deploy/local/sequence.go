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

// sequence holds the started parts in order. One goroutine uses it; another may read failed.
type sequence struct {
	log   *slog.Logger
	parts []part
	// failed receives the first failure of a running part.
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

// add adds a part that is already running. exited, if not nil, is closed when the part ends.
func (s *sequence) add(name string, exited <-chan struct{}, stop func(ctx context.Context) error) {
	stopping := make(chan struct{})
	if exited != nil {
		go func() {
			select {
			case <-stopping:
			case <-exited:
				s.fail(fmt.Errorf("%s: %w", name, errExited))
			}
		}()
	}
	s.parts = append(s.parts, part{name: name, stop: func(ctx context.Context) error {
		close(stopping)
		return stop(ctx)
	}})
}

var errExited = errors.New("ended unexpectedly")

// start runs a part and returns when ready returns nil. Only stop ends the part, not ctx.
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
			return fmt.Errorf("%s does not stop: %w", p.Name, ctx.Err())
		}
	}})
	err := until(ctx, done, ready)
	select {
	case <-done:
		return ended
	default:
		if err != nil {
			return fmt.Errorf("%s does not become ready: %w", p.Name, err)
		}
		return nil
	}
}

func (s *sequence) fail(err error) {
	s.failOnce.Do(func() { s.failed <- err })
}

// stop stops everything in reverse order.
func (s *sequence) stop(ctx context.Context) error {
	var errs []error
	for _, p := range slices.Backward(s.parts) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		errs = append(errs, p.stop(ctx))
		cancel()
	}
	s.parts = nil
	return errors.Join(errs...)
}

// until waits until ready returns nil. It gives up when the part has ended, after readyTimeout, or when ctx ends.
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
