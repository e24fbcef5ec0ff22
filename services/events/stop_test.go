package events

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// A stopping instance reads no events any more, and still answers for some seconds. Another one stores the events meanwhile.
func TestStreamsOfAStoppingInstanceHearOfEventsThatAnotherOneStores(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.cfg.RPC.LameDuck = 10 * time.Second
	stop := f.start(t)
	f.requireFeed(t, f.addEvents(t, 1))
	conn, err := rpc.Dial(rpc.Target{Addr: f.cfg.RPC.Addr}, telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	stream, err := eventsv1.NewFeedNoticesServiceClient(conn).WatchFeed(t.Context(), &eventsv1.WatchFeedRequest{})
	require.NoError(t, err)
	ended := make(chan time.Duration, 1) // How long before its end the stream had its last notice.
	go func() {
		last := time.Now()
		for {
			if _, err := stream.Recv(); err != nil {
				ended <- time.Since(last)
				return
			}
			last = time.Now()
		}
	}()
	other := *f
	other.cfg.RPC.Addr = testenv.FreeAddr(t)
	other.start(t)
	go stop()
	more := time.NewTicker(100 * time.Millisecond)
	defer more.Stop()
	for {
		select {
		case <-more.C:
			f.addEvents(t, 1)
		case silent := <-ended:
			require.Less(t, silent, f.cfg.RPC.LameDuck/2)
			return
		}
	}
}
