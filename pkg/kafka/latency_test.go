package kafka

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLatency measures from before Publish to the handler, at a steady rate that
// does not depend on how fast messages arrive.
func TestLatency(t *testing.T) {
	const total = 600
	for _, every := range []time.Duration{20 * time.Millisecond, 5 * time.Millisecond, 2 * time.Millisecond} {
		t.Run(fmt.Sprintf("one message per %s", every), func(t *testing.T) {
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
			joining := time.Now()
			publish := func(i int, at time.Time) {
				require.NoError(t, p.Publish(t.Context(), []Message{{
					Key: fmt.Appendf(nil, "tenant-%d", i%20), Value: []byte(at.Format(time.RFC3339Nano)),
				}}))
			}
			publish(0, time.Now())
			<-took
			t.Logf("joined and read the first message in %s", time.Since(joining).Round(time.Millisecond))

			n := min(total, int(3*time.Second/every))
			tick := time.NewTicker(every)
			defer tick.Stop()
			for i := range n {
				publish(i, <-tick.C)
			}
			var all []time.Duration
			for range n {
				all = append(all, <-took)
			}
			slices.Sort(all)
			at := func(q float64) time.Duration { return all[int(q*float64(n-1))].Round(10 * time.Microsecond) }
			t.Logf("publish to handler: p50 %s, p95 %s, p99 %s, max %s", at(.5), at(.95), at(.99), at(1))
			require.Less(t, at(.5), 10*time.Millisecond)
		})
	}
}
