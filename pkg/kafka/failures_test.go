package kafka

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestAConnectionThatDoesNotAnswerIsGivenUp(t *testing.T) {
	t.Parallel()
	cfg, topic := setup(t, 1)
	msgs := numbered(20, 1)
	require.NoError(t, newProducer(t, cfg, topic).Publish(t.Context(), msgs))
	var s sink
	opts := options(topic, newGroup())
	opts.FetchTimeout = 300 * time.Millisecond
	c := newConsumer(t, cfg, opts, s.handle)
	dial := c.dial
	var dials atomic.Int64
	// The first connections take everything and answer nothing.
	c.dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials.Add(1) > 2 {
			return dial(ctx, network, address)
		}
		near, far := net.Pipe()
		go func() { _, _ = io.Copy(io.Discard, far) }()
		t.Cleanup(func() { _ = far.Close() })
		return near, nil
	}
	start(t, c)
	s.waitFor(t, len(msgs))
	require.Equal(t, expected(msgs), firstSeen(s.log()))
}

func TestConsumerSurvives(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]kmsg.Key{
		"failing fetches": kmsg.Fetch, "failing commits": kmsg.OffsetCommit, "failing lookups of commits": kmsg.OffsetFetch,
	} {
		t.Run(name, func(t *testing.T) {
			cluster, cfg, topic := setupFake(t, 2)
			failure := cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: kerr.NotCoordinator, Count: 3})
			if key == kmsg.Fetch {
				failure = cluster.Fault(kfake.Fault{Keys: []kmsg.Key{key}, Err: kerr.NotLeaderForPartition, Count: 3})
			}
			var s sink
			start(t, newConsumer(t, cfg, options(topic, newGroup()), s.handle))
			p := newProducer(t, cfg, topic)
			msgs := numbered(100, 5)
			require.NoError(t, p.Publish(t.Context(), msgs[:50]))
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			require.NoError(t, failure.Wait(ctx, 3))
			require.NoError(t, p.Publish(t.Context(), msgs[50:]))
			s.waitFor(t, len(msgs))
			require.Eventually(t, func() bool { return len(firstSeenValues(s.log())) == len(msgs) }, patience, 10*time.Millisecond)
		})
	}
}

func firstSeenValues(log map[int][]Message) []string {
	var values []string
	for _, v := range firstSeen(log) {
		values = append(values, v...)
	}
	return values
}
