//go:build faults

package gateway_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
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
	// endurancePause is how long a client waits after a refusal, so that the test measures the gateways and not the machine.
	endurancePause = 40 * time.Millisecond
)

// accepted is a request that was accepted. It was counted between the two times.
type accepted struct{ sent, answered time.Time }

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

	began := time.Now()
	all, refused := hammer(t, []*gatewaytest.Fixture{first, second}, began.Add(enduranceTime))
	slices.SortFunc(all, func(a, b accepted) int { return a.sent.Compare(b.sent) })
	inFirstMinute := 0
	for _, a := range all {
		if a.answered.Sub(began) <= time.Minute {
			inFirstMinute++
		}
	}
	most := mostInAMinute(all)
	fallbacks := tel.Values(t, "gifting.gateway.limiter.fallback")["limiter=key"]
	t.Logf("%d accepted, %d refused in %s; %d accepted in the first minute; at most %d in any 60 s; %v counted without Redis",
		len(all), refused, enduranceTime, inFirstMinute, most, fallbacks)
	require.LessOrEqual(t, most, 300)
	require.GreaterOrEqual(t, inFirstMinute, 295)
	require.Greater(t, len(all), 300, "the window slides")
	require.Zero(t, fallbacks)

	counted := times()
	require.Len(t, counted, len(all), "every accepted request was counted")
	for i := 300; i < len(counted); i++ {
		require.GreaterOrEqual(t, counted[i]-counted[i-300], float64(time.Minute.Microseconds()), "by the clock of Redis")
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

func hammer(t *testing.T, gateways []*gatewaytest.Fixture, until time.Time) (all []accepted, refused int64) {
	t.Helper()
	var mu sync.Mutex
	var no atomic.Int64
	var clients errgroup.Group
	for i := range enduranceClients {
		f := gateways[i%len(gateways)]
		clients.Go(func() error {
			for time.Now().Before(until) {
				sent := time.Now()
				status, err := f.Get(t.Context(), "/me")
				if err != nil {
					return err
				}
				if status == http.StatusOK {
					mu.Lock()
					all = append(all, accepted{sent, time.Now()})
					mu.Unlock()
					continue
				}
				no.Add(1)
				<-time.After(endurancePause)
			}
			return nil
		})
	}
	require.NoError(t, clients.Wait())
	return all, no.Load()
}

// mostInAMinute returns the largest number of requests that were sent and answered within 60 s of the sending of one of them.
// A window of 60 s contained all of these. The requests are sorted by when they were sent.
func mostInAMinute(all []accepted) int {
	most := 0
	for i := range all {
		within := 0
		for _, later := range all[i:] {
			if later.answered.Sub(all[i].sent) < time.Minute {
				within++
			}
		}
		most = max(most, within)
	}
	return most
}
