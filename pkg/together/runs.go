// Package together lets calls that come at the same time share the cost of one: those that come
// while a run is under way go together in the next. A call that comes alone waits for nothing.
package together

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// Runs gathers the items of concurrent calls. It is safe for concurrent use; its fields are set
// before the first call.
type Runs[T any] struct {
	// Do does the items of one run; its error is that of each of them. Its context carries the
	// values of the first caller's and ends with no caller.
	Do func(ctx context.Context, items []T) error
	// Limit ends a run.
	Limit time.Duration
	// AtOnce is how many runs may be under way, Most how many items one has at the most.
	AtOnce, Most int
	// Apart says of an error that one of the items may be to blame for it. Each is then done by itself,
	// so that none fails for another's sake. Nil: no error does.
	Apart func(err error) bool

	mu      sync.Mutex
	waiting []*call[T]
	running int
	// idle are those who have nothing to do, the last one behind the others.
	idle []worker
}

// worker is told over its channel that somebody waits.
type worker chan struct{}

// lingering is how long a worker is kept that has nothing to do: a new one would have to grow its stack first, which
// takes as long as many a run.
const lingering = time.Second

type call[T any] struct {
	ctx  context.Context //nolint:containedctx // The caller's, which may end while its item waits.
	item T
	done chan error
}

// Join gives the item to a run and what came of it. It returns early when ctx ends: an item that
// waits is then left out, one that a run has taken may be done nevertheless.
func (r *Runs[T]) Join(ctx context.Context, item T) error {
	c := &call[T]{ctx: ctx, item: item, done: make(chan error, 1)}
	r.wait(c)
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for others: %w", ctx.Err())
	}
}

func (r *Runs[T]) wait(c *call[T]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, c)
	if r.running == r.AtOnce {
		return
	}
	r.running++
	if last := len(r.idle) - 1; last >= 0 {
		r.idle[last] <- struct{}{}
		r.idle = r.idle[:last]
		return
	}
	go r.work()
}

// Waiting is how many wait for a run.
func (r *Runs[T]) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// Running is how many runs are under way.
func (r *Runs[T]) Running() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.running
}

// work makes runs until nobody has waited for a while.
func (r *Runs[T]) work() {
	w := make(worker, 1)
	while := time.NewTimer(lingering)
	defer while.Stop()
	for {
		runtime.Gosched() // Those who are just about to join come along.
		if calls := r.take(w); len(calls) > 0 {
			r.run(calls)
			continue
		}
		while.Reset(lingering)
		select {
		case <-w:
		case <-while.C:
			if r.leave(w) {
				return
			}
			<-w
		}
	}
}

// take gives those who go next. Without any the worker is idle.
func (r *Runs[T]) take(w worker) []*call[T] {
	r.mu.Lock()
	defer r.mu.Unlock()
	var next []*call[T]
	for len(r.waiting) > 0 && len(next) < r.Most {
		if c := r.waiting[0]; c.ctx.Err() == nil {
			next = append(next, c)
		}
		r.waiting = r.waiting[1:]
	}
	if len(next) == 0 {
		r.waiting = nil
		r.running--
		r.idle = append(r.idle, w)
	}
	return next
}

// leave says that a worker goes, unless it has just been told of somebody.
func (r *Runs[T]) leave(w worker) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.Index(r.idle, w)
	if at < 0 {
		return false
	}
	r.idle = slices.Delete(r.idle, at, at+1)
	return true
}

func (r *Runs[T]) run(calls []*call[T]) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(calls[0].ctx), r.Limit)
	defer cancel()
	items := make([]T, len(calls))
	for i, c := range calls {
		items[i] = c.item
	}
	err := r.Do(ctx, items)
	if err != nil && len(calls) > 1 && r.Apart != nil && r.Apart(err) {
		for i := range calls {
			r.run(calls[i : i+1])
		}
		return
	}
	for _, c := range calls {
		c.done <- err
	}
}
