package together_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/pkg/together"
)

var errRefused = errors.New("refused")

// workshop notes each run and holds it until it is let go on.
type workshop struct {
	entered chan []int
	proceed chan error
}

func newWorkshop() *workshop {
	return &workshop{entered: make(chan []int), proceed: make(chan error)}
}

func (w *workshop) do(_ context.Context, items []int) error {
	w.entered <- slices.Clone(items)
	return <-w.proceed
}

func (w *workshop) runs() *together.Runs[int] {
	return &together.Runs[int]{Do: w.do, Limit: time.Minute, AtOnce: 1, Most: 3}
}

func TestThoseWhoComeDuringARunGoTogetherInTheNext(t *testing.T) {
	w := newWorkshop()
	runs := w.runs()
	var group errgroup.Group
	group.Go(func() error { return runs.Join(t.Context(), 0) })
	require.Equal(t, []int{0}, <-w.entered)
	for i := 1; i <= 4; i++ {
		group.Go(func() error { return runs.Join(t.Context(), i) })
		require.Eventually(t, func() bool { return runs.Waiting() == i }, 5*time.Second, time.Millisecond)
	}
	w.proceed <- nil
	require.Equal(t, []int{1, 2, 3}, <-w.entered, "no more than the most of one run, in the order of their coming")
	w.proceed <- nil
	require.Equal(t, []int{4}, <-w.entered)
	w.proceed <- nil
	require.NoError(t, group.Wait())
}

func TestTheErrorOfARunIsThatOfEachOfItsItems(t *testing.T) {
	w := newWorkshop()
	runs := w.runs()
	results := joinInOneRun(t, w, runs)
	w.proceed <- errRefused
	require.ErrorIs(t, <-results, errRefused)
	require.ErrorIs(t, <-results, errRefused)
}

func TestItemsAreDoneApartWhenOneMayBeToBlame(t *testing.T) {
	w := newWorkshop()
	runs := w.runs()
	runs.Apart = func(err error) bool { return errors.Is(err, errRefused) }
	results := joinInOneRun(t, w, runs)
	w.proceed <- errRefused
	require.Equal(t, []int{1}, <-w.entered)
	w.proceed <- nil
	require.NoError(t, <-results)
	require.Equal(t, []int{2}, <-w.entered)
	w.proceed <- errRefused
	require.ErrorIs(t, <-results, errRefused, "an item that is to blame by itself is not tried for ever")
}

func TestACallerThatGoesAwayTakesNobodyAlong(t *testing.T) {
	w := newWorkshop()
	runs := w.runs()
	first, leaveFirst := context.WithCancel(t.Context())
	second, leaveSecond := context.WithCancel(t.Context())
	gone := make(chan error, 2)
	stays := make(chan error, 1)
	go func() { gone <- runs.Join(first, 0) }()
	require.Equal(t, []int{0}, <-w.entered)
	go func() { gone <- runs.Join(second, 1) }()
	require.Eventually(t, func() bool { return runs.Waiting() == 1 }, 5*time.Second, time.Millisecond)
	go func() { stays <- runs.Join(t.Context(), 2) }()
	require.Eventually(t, func() bool { return runs.Waiting() == 2 }, 5*time.Second, time.Millisecond)
	leaveFirst()
	leaveSecond()
	require.ErrorIs(t, <-gone, context.Canceled)
	require.ErrorIs(t, <-gone, context.Canceled)
	w.proceed <- nil
	require.Equal(t, []int{2}, <-w.entered, "whose caller had gone is left out")
	w.proceed <- nil
	require.NoError(t, <-stays)
}

func TestARunEndsAtItsLimit(t *testing.T) {
	runs := &together.Runs[int]{AtOnce: 1, Most: 1, Limit: time.Millisecond, Do: func(ctx context.Context, _ []int) error {
		<-ctx.Done()
		return ctx.Err()
	}}
	require.ErrorIs(t, runs.Join(t.Context(), 1), context.DeadlineExceeded)
}

func TestNoItemIsLostOrDoneTwiceAmongManyCallers(t *testing.T) {
	var sum, items atomic.Int64
	runs := &together.Runs[int]{AtOnce: 2, Most: 16, Limit: time.Minute, Do: func(_ context.Context, of []int) error {
		for _, i := range of {
			sum.Add(int64(i))
		}
		items.Add(int64(len(of)))
		return nil
	}}
	var group errgroup.Group
	const callers, each = 32, 500
	for range callers {
		group.Go(func() error {
			for i := range each {
				if err := runs.Join(t.Context(), i); err != nil {
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

func TestAWorkerStaysForTheNextAndGoesWhenNobodyHasCome(t *testing.T) {
	const lingering = time.Second
	for _, pause := range []time.Duration{lingering / 2, lingering, 2 * lingering} {
		synctest.Test(t, func(t *testing.T) {
			done := 0
			runs := &together.Runs[int]{AtOnce: 1, Most: 1, Limit: time.Minute, Do: func(context.Context, []int) error {
				done++
				return nil
			}}
			before := runtime.NumGoroutine()
			for n := range 50 {
				require.NoError(t, runs.Join(t.Context(), n))
				<-time.After(pause) // By the bubble's clock.
			}
			require.Equal(t, 50, done, "whether the worker was there, had gone, or was just going")
			<-time.After(2 * lingering)
			synctest.Wait()
			require.Equal(t, before, runtime.NumGoroutine())
		})
	}
}

// joinInOneRun lets items 1 and 2 go together and gives what becomes of them.
func joinInOneRun(t *testing.T, w *workshop, runs *together.Runs[int]) <-chan error {
	t.Helper()
	results := make(chan error, 2)
	first := make(chan error, 1)
	go func() { first <- runs.Join(t.Context(), 0) }()
	require.Equal(t, []int{0}, <-w.entered)
	for i := 1; i <= 2; i++ {
		go func() { results <- runs.Join(t.Context(), i) }()
		require.Eventually(t, func() bool { return runs.Waiting() == i }, 5*time.Second, time.Millisecond)
	}
	w.proceed <- nil
	require.NoError(t, <-first)
	require.Equal(t, []int{1, 2}, <-w.entered)
	return results
}
