package kafka

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNoMessageWaitsForABatch publishes at a steady rate that does not depend on how fast messages arrive, far below
// what fills a batch, and measures from before Publish to the handler. kafka-go as it comes lets a lone message wait a
// second for others.
func TestNoMessageWaitsForABatch(t *testing.T) {
	const total, every = 100, 20 * time.Millisecond
	cfg, topic := setup(t, 6)
	p := newProducer(t, cfg, topic)
	took := make(chan time.Duration, total+1)
	start(t, NewConsumer(cfg, options(topic, newGroup()), func(_ context.Context, _ int, msgs []Message) error {
		for _, m := range msgs {
			sent, err := time.Parse(time.RFC3339Nano, string(m.Value))
			if err != nil {
				return err
			}
			took <- time.Since(sent)
		}
		return nil
	}))
	publish := func(i int, at time.Time) {
		require.NoError(t, p.Publish(t.Context(), []Message{{
			Key: fmt.Appendf(nil, "tenant-%d", i%20), Value: []byte(at.Format(time.RFC3339Nano)),
		}}))
	}
	publish(0, time.Now())
	<-took
	tick := time.NewTicker(every)
	defer tick.Stop()
	for i := range total {
		publish(i, <-tick.C)
	}
	var all []time.Duration
	for range total {
		all = append(all, <-took)
	}
	slices.Sort(all)
	t.Logf("publish to handler: p50 %s, p99 %s", all[total/2], all[total*99/100])
	require.Less(t, all[total/2], 500*time.Millisecond, "half of what a batch is waited for")
}
