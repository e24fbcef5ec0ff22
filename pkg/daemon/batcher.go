package daemon

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// Batcher lets concurrent calls share the cost of one: calls that arrive while a batch is in flight are processed together in the
// next one. A call that arrives alone is processed immediately.
type Batcher[T any] struct {
	// Process handles the items of one batch. Its error is returned to each of their callers. Its context carries the values of the
	// first caller's context and is not cancelled with it.
	Process func(ctx context.Context, items []T) error
	// Timeout bounds the time of a batch.
	Timeout time.Duration
	// MaxConcurrent is how many batches may be in flight, MaxItems how many items one may have.
	MaxConcurrent, MaxItems int
	// Isolate reports whether an error may be due to a single item. Each item is then processed alone, so that none fails because
	// of another. Nil: never.
	Isolate func(err error) bool

	mu      sync.Mutex
	waiting []*call[T]
	// running counts the workers.
	running int
}

type call[T any] struct {
	ctx  context.Context //nolint:containedctx // The caller's, which may end while its item waits.
	item T
	done chan error
}

// Do adds the item to a batch and returns the batch's error. It returns early when ctx ends: an item that still waits is then
// dropped, one that is in a batch may be processed nevertheless.
func (b *Batcher[T]) Do(ctx context.Context, item T) error {
	c := &call[T]{ctx: ctx, item: item, done: make(chan error, 1)}
	b.enqueue(c)
	select {
	case err := <-c.done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("wait for the batch: %w", ctx.Err())
	}
}

func (b *Batcher[T]) enqueue(c *call[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, c)
	if b.running == b.MaxConcurrent {
		return
	}
	b.running++
	go b.processBatches()
}

// processBatches is a worker. It processes batches while calls wait.
func (b *Batcher[T]) processBatches() {
	for {
		runtime.Gosched() // Calls that are about to arrive join this batch.
		calls := b.nextBatch()
		if len(calls) == 0 {
			return
		}
		b.process(calls)
	}
}

// nextBatch returns the calls of the next batch, which no longer wait. If there are none, the worker must end: it is already
// subtracted from running.
func (b *Batcher[T]) nextBatch() []*call[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	var next []*call[T]
	for len(b.waiting) > 0 && len(next) < b.MaxItems {
		if c := b.waiting[0]; c.ctx.Err() == nil {
			next = append(next, c)
		}
		b.waiting = b.waiting[1:]
	}
	if len(next) == 0 {
		b.waiting = nil
		b.running--
	}
	return next
}

func (b *Batcher[T]) process(calls []*call[T]) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(calls[0].ctx), b.Timeout)
	defer cancel()
	items := make([]T, len(calls))
	for i, c := range calls {
		items[i] = c.item
	}
	err := b.Process(ctx, items)
	if err != nil && len(calls) > 1 && b.Isolate != nil && b.Isolate(err) {
		for i := range calls {
			b.process(calls[i : i+1])
		}
		return
	}
	for _, c := range calls {
		c.done <- err
	}
}
