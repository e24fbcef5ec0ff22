package reconcile

import (
	"context"
	"time"

	"github.com/partnergifting/platform/pkg/daemon"
)

// pacer bounds the rate of reads, so that a run does not slow down the platform.
type pacer struct {
	ticker *time.Ticker
	// bar counts the items that were read.
	bar *daemon.ProgressBar
}

func newPacer(pagesPerSecond int, bar *daemon.ProgressBar) pacer {
	return pacer{time.NewTicker(time.Second / time.Duration(pagesPerSecond)), bar}
}

// wait returns when the next page may be read.
func (p pacer) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.ticker.C:
		return nil
	}
}

// stream reads sorted items page by page.
type stream[T any] struct {
	pace pacer
	// read returns the page after an item; the zero value is before the first one. A short page is the last one.
	read  func(ctx context.Context, after T) ([]T, error)
	limit int

	page []T
	last T
	end  bool
	// count is how many items were read.
	count int
}

// head returns the next item, or nil at the end.
func (s *stream[T]) head(ctx context.Context) (*T, error) {
	if len(s.page) == 0 && !s.end {
		if err := s.pace.wait(ctx); err != nil {
			return nil, err
		}
		var err error
		if s.page, err = s.read(ctx, s.last); err != nil {
			return nil, err
		}
		s.end, s.count = len(s.page) < s.limit, s.count+len(s.page)
		s.pace.bar.Add(len(s.page))
		if len(s.page) > 0 {
			s.last = s.page[len(s.page)-1]
		}
	}
	if len(s.page) == 0 {
		return nil, nil //nolint:nilnil // The end is no error.
	}
	return &s.page[0], nil
}

// each calls do for every item.
func (s *stream[T]) each(ctx context.Context, do func(item T) error) error {
	for {
		item, err := s.head(ctx)
		if err != nil || item == nil {
			return err
		}
		s.skip()
		if err := do(*item); err != nil {
			return err
		}
	}
}

func (s *stream[T]) skip() { s.page = s.page[1:] }

// merge calls each for every key of two streams in their order. An argument is nil if its stream does not have the key.
func merge[A, B any](
	ctx context.Context, left *stream[A], right *stream[B], compare func(a A, b B) int, each func(a *A, b *B) error,
) error {
	for {
		a, err := left.head(ctx)
		if err != nil {
			return err
		}
		b, err := right.head(ctx)
		if err != nil {
			return err
		}
		if a == nil && b == nil {
			return nil
		}
		switch order := compareHeads(a, b, compare); {
		case order < 0:
			b = nil
		case order > 0:
			a = nil
		}
		if err := each(a, b); err != nil {
			return err
		}
		if a != nil {
			left.skip()
		}
		if b != nil {
			right.skip()
		}
	}
}

func compareHeads[A, B any](a *A, b *B, compare func(a A, b B) int) int {
	switch {
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return compare(*a, *b)
}

// batch collects possible differences, and checks them when it is full.
type batch[T any] struct {
	limit int
	items []T
	check func(ctx context.Context, items []T) error
}

func (b *batch[T]) add(ctx context.Context, item T) error {
	if b.items = append(b.items, item); len(b.items) < b.limit {
		return nil
	}
	return b.flush(ctx)
}

func (b *batch[T]) flush(ctx context.Context) error {
	if len(b.items) == 0 {
		return nil
	}
	items := b.items
	b.items = nil
	return b.check(ctx, items)
}
