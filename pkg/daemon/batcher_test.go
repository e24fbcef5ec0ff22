package daemon_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/daemon"
)

var errRefused = errors.New("refused")

// gate records each batch and holds it until it may proceed.
type gate struct {
	entered chan []int
	proceed chan error
}

func newGate() *gate {
	return &gate{entered: make(chan []int), proceed: make(chan error)}
}

func (g *gate) process(_ context.Context, items []int) error {
	g.entered <- slices.Clone(items)
	return <-g.proceed
}

func (g *gate) batcher() *daemon.Batcher[int] {
	return &daemon.Batcher[int]{Process: g.process, Timeout: time.Minute, MaxConcurrent: 1, MaxItems: 3}
}

func TestCallsDuringABatchShareTheNext(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := g.batcher()
	var group errgroup.Group
	group.Go(func() error { return b.Do(t.Context(), 0) })
	require.Equal(t, []int{0}, <-g.entered)
	for i := 1; i <= 4; i++ {
		group.Go(func() error { return b.Do(t.Context(), i) })
		require.Eventually(t, func() bool { return b.Waiting() == i }, 30*time.Second, time.Millisecond)
	}
	g.proceed <- nil
	require.Equal(t, []int{1, 2, 3}, <-g.entered, "at most MaxItems, in the order of arrival")
	g.proceed <- nil
	require.Equal(t, []int{4}, <-g.entered)
	g.proceed <- nil
	require.NoError(t, group.Wait())
}

func TestTheErrorOfABatchIsReturnedToEachCaller(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := g.batcher()
	results := doInOneBatch(t, g, b)
	g.proceed <- errRefused
	require.ErrorIs(t, <-results, errRefused)
	require.ErrorIs(t, <-results, errRefused)
}

func TestItemsAreIsolatedWhenOneMayHaveFailed(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := g.batcher()
	b.Isolate = func(err error) bool { return errors.Is(err, errRefused) }
	results := doInOneBatch(t, g, b)
	g.proceed <- errRefused
	require.Equal(t, []int{1}, <-g.entered)
	g.proceed <- nil
	require.NoError(t, <-results)
	require.Equal(t, []int{2}, <-g.entered)
	g.proceed <- errRefused
	require.ErrorIs(t, <-results, errRefused, "a failing item is not retried forever")
}

func TestACancelledCallerCancelsNoOther(t *testing.T) {
	t.Parallel()
	g := newGate()
	b := g.batcher()
	first, leaveFirst := context.WithCancel(t.Context())
	second, leaveSecond := context.WithCancel(t.Context())
	gone := make(chan error, 2)
	stays := make(chan error, 1)
	go func() { gone <- b.Do(first, 0) }()
	require.Equal(t, []int{0}, <-g.entered)
	go func() { gone <- b.Do(second, 1) }()
	require.Eventually(t, func() bool { return b.Waiting() == 1 }, 30*time.Second, time.Millisecond)
	go func() { stays <- b.Do(t.Context(), 2) }()
	require.Eventually(t, func() bool { return b.Waiting() == 2 }, 30*time.Second, time.Millisecond)
	leaveFirst()
	leaveSecond()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.ErrorIs(t, <-gone, context.Canceled)
	g.proceed <- nil
	require.Equal(t, []int{2}, <-g.entered, "the item of a cancelled caller is dropped")
	g.proceed <- nil
	require.NoError(t, <-stays)
}

func TestABatchEndsAtItsTimeout(t *testing.T) {
	t.Parallel()
	wait := func(ctx context.Context, _ []int) error {
		<-ctx.Done()
		return ctx.Err()
	}
	b := &daemon.Batcher[int]{MaxConcurrent: 1, MaxItems: 1, Timeout: time.Millisecond, Process: wait}
	require.ErrorIs(t, b.Do(t.Context(), 1), context.DeadlineExceeded)
}

func TestNoItemIsLostOrProcessedTwiceUnderConcurrency(t *testing.T) {
	t.Parallel()
	var sum, items atomic.Int64
	b := &daemon.Batcher[int]{MaxConcurrent: 2, MaxItems: 16, Timeout: time.Minute}
	b.Process = func(_ context.Context, batch []int) error {
		for _, i := range batch {
			sum.Add(int64(i))
		}
		items.Add(int64(len(batch)))
		return nil
	}
	var group errgroup.Group
	const callers, each = 32, 500
	for range callers {
		group.Go(func() error {
			for i := range each {
				if err := b.Do(t.Context(), i); err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, callers*each, items.Load())
	require.EqualValues(t, callers*each*(each-1)/2, sum.Load())
}

// doInOneBatch puts items 1 and 2 into one batch and returns their results.
func doInOneBatch(t *testing.T, g *gate, b *daemon.Batcher[int]) <-chan error {
	t.Helper()
	results := make(chan error, 2)
	first := make(chan error, 1)
	go func() { first <- b.Do(t.Context(), 0) }()
	require.Equal(t, []int{0}, <-g.entered)
	for i := 1; i <= 2; i++ {
		go func() { results <- b.Do(t.Context(), i) }()
		require.Eventually(t, func() bool { return b.Waiting() == i }, 30*time.Second, time.Millisecond)
	}
	g.proceed <- nil
	require.NoError(t, <-first)
	require.Equal(t, []int{1, 2}, <-g.entered)
	return results
}
