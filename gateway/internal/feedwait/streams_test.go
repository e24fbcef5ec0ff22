package feedwait

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/telemetry"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// notices are the events services of some cells.
type notices struct {
	mu      sync.Mutex
	letters []string
	lists   int
	// open are the streams that are open, by the letter of their cell, and opened how often one was.
	open   map[string]chan *eventsv1.WatchFeedResponse
	opened map[string]int
}

// noticeStream is a stream that ends with its context.
type noticeStream struct {
	grpc.ServerStreamingClient[eventsv1.WatchFeedResponse]

	ctx    context.Context //nolint:containedctx // As that of gRPC.
	sent   <-chan *eventsv1.WatchFeedResponse
	closed func()
}

func (n *notices) WatchFeed(
	ctx context.Context, _ *eventsv1.WatchFeedRequest, _ ...grpc.CallOption,
) (grpc.ServerStreamingClient[eventsv1.WatchFeedResponse], error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	letter, sent := caller.CellOf(ctx), make(chan *eventsv1.WatchFeedResponse, 1)
	sent <- &eventsv1.WatchFeedResponse{Missed: true}
	n.open[letter] = sent
	n.opened[letter]++
	return &noticeStream{ctx: ctx, sent: sent, closed: func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.open, letter)
	}}, nil
}

func (s *noticeStream) Recv() (*eventsv1.WatchFeedResponse, error) {
	select {
	case r := <-s.sent:
		return r, nil
	case <-s.ctx.Done():
		s.closed()
		return nil, s.ctx.Err()
	}
}

func (n *notices) list(context.Context) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lists++
	return slices.Clone(n.letters)
}

func (n *notices) setLetters(letters ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.letters = letters
}

// after returns the cells whose streams are open after a while.
func (n *notices) after(d time.Duration) []string {
	<-time.After(d)
	synctest.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Sorted(maps.Keys(n.open))
}

// inCells runs a test with Waits that follow these cells, in a bubble with a clock of its own.
func inCells(t *testing.T, test func(t *testing.T, w *Waits, n *notices), letters ...string) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := &notices{letters: letters, open: map[string]chan *eventsv1.WatchFeedResponse{}, opened: map[string]int{}}
		w, err := New(Deps{
			Notices: n, Letters: n.list, Meter: telemetry.Discard().Meters.Meter("test"), Log: slog.New(slog.DiscardHandler),
		}, Config{MaxHeld: 200})
		require.NoError(t, err)
		ctx, end := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- w.Run(ctx) }()
		defer func() { // Also after a failure: otherwise the clock of the bubble would run for ever.
			end()
			require.NoError(t, <-ended)
		}()
		test(t, w, n)
	})
}

func TestWhileCallsWaitThereIsOneStreamForEachCell(t *testing.T) {
	t.Parallel()
	inCells(t, func(t *testing.T, w *Waits, n *notices) {
		t.Helper()
		require.Empty(t, n.after(time.Hour))
		require.Zero(t, n.lists, "cells are not asked for while no call waits")
		for opened := range 2 {
			waiter := w.Register(caller.Principal{TenantID: "t"})
			require.Equal(t, []string{"a", "b"}, n.after(time.Millisecond))
			require.Equal(t, map[string]int{"a": opened + 1, "b": opened + 1}, n.opened)
			require.Equal(t, []string{"a", "b"}, n.after(time.Hour))
			waiter.Unregister()
			require.Empty(t, n.after(2*idle), "no call waits any more")
		}
		lists := n.lists
		n.after(time.Hour)
		require.Equal(t, lists, n.lists)
	}, "a", "b")
}

func TestANewCellIsFollowedWhileCallsWait(t *testing.T) {
	t.Parallel()
	inCells(t, func(t *testing.T, w *Waits, n *notices) {
		t.Helper()
		waiter := w.Register(caller.Principal{TenantID: "t"})
		defer waiter.Unregister()
		require.Equal(t, []string{"a"}, n.after(time.Hour))
		noticed := func() bool {
			noticed, err := waiter.Wait(t.Context(), time.Now().Add(time.Millisecond))
			require.NoError(t, err)
			return noticed
		}
		require.True(t, noticed(), "the stream of the first cell has begun")
		require.False(t, noticed())
		n.setLetters("a", "b")
		require.Equal(t, []string{"a", "b"}, n.after(cellsPause))
		require.True(t, noticed(), "the stream of the new cell has begun, and may have missed a notice")
	}, "a")
}

func TestAWaiterIsWokenByTheNoticesOfEveryCell(t *testing.T) {
	t.Parallel()
	inCells(t, func(t *testing.T, w *Waits, n *notices) {
		t.Helper()
		const orders = commonv1.Scope_SCOPE_ORDERS
		waiter := w.Register(caller.Principal{TenantID: "t", KeyID: 1, AllBrands: true, Scopes: []commonv1.Scope{orders}})
		defer waiter.Unregister()
		n.after(time.Second)
		<-waiter.noticed // The streams have begun.
		for _, letter := range []string{"a", "b"} {
			n.open[letter] <- &eventsv1.WatchFeedResponse{Notices: []*eventsv1.FeedNotice{{TenantId: "t", Scope: orders}}}
			noticed, err := waiter.Wait(t.Context(), time.Now().Add(time.Second))
			require.NoError(t, err)
			require.True(t, noticed, letter)
		}
	}, "a", "b")
}
