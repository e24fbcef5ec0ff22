//go:build faults

package gateway_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

const (
	enduranceClients = 40
	enduranceTime    = 70 * time.Second
	// endurancePause is how long a client waits after a refusal, so that the test does not overload the machine.
	endurancePause = 40 * time.Millisecond
)

// TestEnduranceOfTheLimitOverTwoGateways runs 40 clients with one key against two gateways that share one Redis, for longer
// than a window.
func TestEnduranceOfTheLimitOverTwoGateways(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	first := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel.Telemetry})
	second := gatewaytest.NewWith(t, gatewaytest.Options{Telemetry: tel.Telemetry, Services: first.Services})
	first.NewCaller()
	second.Key = first.Key
	times := watchLog(t, first.RequestLog(first.Key))

	accepted, inFirstMinute, refused := hammer(t, []*gatewaytest.Fixture{first, second})
	fallbacks := tel.Values(t, "gifting.gateway.limiter.fallback")["limiter=key"]
	t.Logf("%d accepted, %d refused in %s; %d accepted in the first minute; %v counted without Redis",
		accepted, refused, enduranceTime, inFirstMinute, fallbacks)
	require.GreaterOrEqual(t, inFirstMinute, int64(295))
	require.Greater(t, accepted, int64(300), "the window slides")
	require.Zero(t, fallbacks)

	counted := times()
	require.Len(t, counted, int(accepted), "every accepted request was counted")
	for i := 300; i < len(counted); i++ {
		require.GreaterOrEqual(t, counted[i]-counted[i-300], float64(time.Minute.Microseconds()), "no window has more than 300")
	}
}

// watchLog collects the times at which Redis counted requests, in microseconds. stop ends it and returns them in order.
// Requests that share a round trip to Redis share their time, and enter and leave the log together.
func watchLog(t *testing.T, log string) (stop func() []float64) {
	t.Helper()
	client := gatewaytest.OpenRedis(t)
	seen := map[float64]int{}
	read := func(ctx context.Context) error {
		var times []float64
		err := client.LRange(ctx, log, 0, -1).ScanSlice(&times)
		now := map[float64]int{}
		for _, at := range times {
			now[at]++
		}
		maps.Copy(seen, now)
		return err
	}
	ctx, cancel := context.WithCancel(t.Context())
	var watch errgroup.Group
	watch.Go(func() error {
		for ctx.Err() == nil {
			if err := read(t.Context()); err != nil {
				return err
			}
			select {
			case <-ctx.Done():
			case <-time.After(time.Second):
			}
		}
		return nil
	})
	return func() []float64 {
		cancel()
		require.NoError(t, watch.Wait())
		require.NoError(t, read(t.Context()))
		var all []float64
		for at, n := range seen {
			all = append(all, slices.Repeat([]float64{at}, n)...)
		}
		return slices.Sorted(slices.Values(all))
	}
}

// hammer sends requests from all clients and counts the responses.
func hammer(t *testing.T, gateways []*gatewaytest.Fixture) (accepted, inFirstMinute, refused int64) {
	t.Helper()
	var all, early, no atomic.Int64
	var clients errgroup.Group
	began := time.Now()
	for i := range enduranceClients {
		f := gateways[i%len(gateways)]
		clients.Go(func() error {
			for time.Since(began) < enduranceTime {
				status, err := f.Get(t.Context(), "/me")
				switch {
				case err != nil:
					return err
				case status != http.StatusOK:
					no.Add(1)
					<-time.After(endurancePause)
					continue
				case time.Since(began) <= time.Minute:
					early.Add(1)
				}
				all.Add(1)
			}
			return nil
		})
	}
	require.NoError(t, clients.Wait())
	return all.Load(), early.Load(), no.Load()
}
