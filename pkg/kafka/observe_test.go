package kafka

import (
	"context"
	"fmt"
	"net"
	"sync/atomic"
	"testing"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/produce"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// produced counts the produce requests to a broker.
type produced struct {
	kafkago.RoundTripper
	requests atomic.Int64
}

func (p *produced) RoundTrip(ctx context.Context, addr net.Addr, req kafkago.Request) (kafkago.Response, error) {
	if _, ok := req.(*produce.Request); ok {
		p.requests.Add(1)
	}
	return p.RoundTripper.RoundTrip(ctx, addr, req)
}

// A writer that waits for others to send with would make fewer requests.
func TestNoMessageWaitsForABatch(t *testing.T) {
	t.Parallel()
	const total = 50
	cfg, topic := setup(t, 6)
	p := newProducer(t, cfg, topic)
	counted := &produced{RoundTripper: p.transport}
	p.client.Transport = counted
	handled := make(chan Message, total)
	start(t, newConsumer(t, cfg, options(topic, newGroup()), func(_ context.Context, _ int, msgs []Message) error {
		for _, m := range msgs {
			handled <- m
		}
		return nil
	}))
	publish := func(i int) error {
		return p.Publish(t.Context(), []Message{{Key: fmt.Appendf(nil, "tenant-%d", i%20), Value: fmt.Append(nil, i)}})
	}
	// None of these messages has a successor to wait for.
	for i := range total {
		require.NoError(t, publish(i))
		require.Equal(t, fmt.Sprint(i), string((<-handled).Value))
	}
	require.EqualValues(t, total, counted.requests.Swap(0))

	var calls errgroup.Group
	for i := range total {
		calls.Go(func() error { return publish(i) })
	}
	require.NoError(t, calls.Wait())
	require.EqualValues(t, total, counted.requests.Load())
}
