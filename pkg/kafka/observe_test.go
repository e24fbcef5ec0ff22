package kafka

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNoMessageWaitsForABatch publishes at fixed rates. It compares the time from before Publish to the handler with the time
// of Publish alone, one round trip to the broker, in the same run. By default kafka-go lets a single message wait a second for
// others.
//
//nolint:paralleltest // It measures times.
func TestNoMessageWaitsForABatch(t *testing.T) {
	const total = 600
	for _, every := range []time.Duration{20 * time.Millisecond, 5 * time.Millisecond, 2 * time.Millisecond} {
		t.Run(fmt.Sprintf("one message per %s", every), func(t *testing.T) {
			cfg, topic := setup(t, 6)
			p := newProducer(t, cfg, topic)
			took := make(chan time.Duration, total+1)
			start(t, newConsumer(t, cfg, options(topic, newGroup()), func(_ context.Context, _ int, msgs []Message) error {
				for _, m := range msgs {
					sent, err := time.Parse(time.RFC3339Nano, string(m.Value))
					if err != nil {
						return err
					}
					took <- time.Since(sent)
				}
				return nil
			}))
			publish := func(i int, at time.Time) time.Duration {
				began := time.Now()
				require.NoError(t, p.Publish(t.Context(), []Message{{
					Key: fmt.Appendf(nil, "tenant-%d", i%20), Value: []byte(at.Format(time.RFC3339Nano)),
				}}))
				return time.Since(began)
			}
			publish(0, time.Now())
			<-took
			n := min(total, int(3*time.Second/every))
			tick := time.NewTicker(every)
			defer tick.Stop()
			var alone, all []time.Duration
			for i := range n {
				alone = append(alone, publish(i, <-tick.C))
			}
			for range n {
				all = append(all, <-took)
			}
			slices.Sort(alone)
			slices.Sort(all)
			t.Logf("Publish alone: p50 %s; to the handler: p50 %s, p99 %s", alone[n/2], all[n/2], all[n*99/100])
			require.Less(t, alone[n/2], 500*time.Millisecond, "half of the time that a batch waits")
			require.Less(t, all[n/2], 5*alone[n/2])
		})
	}
}
