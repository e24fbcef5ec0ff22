//go:build faults

package gateway_test

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	"golang.org/x/sync/errgroup"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/telemetry"
)

const (
	enduranceClients = 40
	enduranceTime    = 70 * time.Second
	// enduranceBreath is how long a client waits after a refusal, so that the clients measure the
	// gateways and not the machine.
	enduranceBreath = 40 * time.Millisecond
)

// accepted is a request that was answered 200, between two readings of one monotonic clock: it was
// counted somewhere in between.
type accepted struct{ sent, answered time.Time }

// TestEnduranceOfTheLimitOverTwoGateways holds 40 clients on one key against two gateways that share
// one Redis, for longer than a window.
func TestEnduranceOfTheLimitOverTwoGateways(t *testing.T) {
	b := startBackend(t)
	fallbacks := &sharedTally{}
	tel := telemetry.Discard()
	tel.Meters = fallbackMeters{tally: fallbacks}
	patient := func(cfg *gateway.Config) { cfg.RedisBudget = 5 * time.Second } // A busy machine is no outage.
	first := newFixture(t, b, startGateway(t, b, tel, patient))
	second := newFixture(t, b, startGateway(t, b, tel, patient))
	first.key = apikey.New(apikey.Sandbox)
	second.key = first.key
	counter := fmt.Sprintf("gifting:requests:{%s}:%d", b.tenantID, keyID(apikey.Hash(first.key)))
	times := watchCounter(t, counter)

	began := time.Now()
	all, refused := hammer(t, first, second, began.Add(enduranceTime))
	slices.SortFunc(all, func(a, b accepted) int { return a.sent.Compare(b.sent) })
	inFirstMinute := 0
	for _, a := range all {
		if a.answered.Sub(began) <= time.Minute {
			inFirstMinute++
		}
	}
	most := mostInAMinute(all)
	t.Logf("%d accepted, %d refused in %s; %d accepted in the first minute; at most %d in any 60 s; %d counted without Redis",
		len(all), refused, enduranceTime, inFirstMinute, most, fallbacks.n.Load())
	require.LessOrEqual(t, most, 300)
	require.GreaterOrEqual(t, inFirstMinute, 295)
	require.Greater(t, len(all), 300, "the window slid on")
	require.Zero(t, fallbacks.n.Load())

	counted := times()
	require.Len(t, counted, len(all), "what was accepted was counted")
	for i := 300; i < len(counted); i++ {
		require.GreaterOrEqual(t, counted[i]-counted[i-300], float64(time.Minute.Microseconds()), "by the clock of Redis")
	}
}

// watchCounter collects the times at which Redis counted requests, in microseconds, until what it
// returns is called, which gives them in their order. Requests that share a trip to Redis share their
// time, and enter and leave the log together.
func watchCounter(t *testing.T, counter string) (stop func() []float64) {
	t.Helper()
	client := openRedis(t)
	seen := map[float64]int{}
	read := func(ctx context.Context) error {
		var times []float64
		err := client.LRange(ctx, counter, 0, -1).ScanSlice(&times)
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

func hammer(t *testing.T, first, second *fixture, until time.Time) (all []accepted, refused int64) {
	t.Helper()
	var mu sync.Mutex
	var no atomic.Int64
	var clients errgroup.Group
	for i := range enduranceClients {
		f := []*fixture{first, second}[i%2]
		clients.Go(func() error {
			for time.Now().Before(until) {
				sent := time.Now()
				status, err := f.status(t.Context())
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
				<-time.After(enduranceBreath)
			}
			return nil
		})
	}
	require.NoError(t, clients.Wait())
	return all, no.Load()
}

func (f *fixture) status(ctx context.Context) (int, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.base+"/me", http.NoBody)
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+f.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// mostInAMinute counts those that were sent and answered within 60 s of the sending of one of them,
// which a window of 60 s held for certain. They are sorted by when they were sent.
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

// sharedTally counts the requests that were judged without Redis.
type sharedTally struct {
	noop.Int64Counter
	n atomic.Int64
}

func (s *sharedTally) Add(_ context.Context, n int64, _ ...metric.AddOption) { s.n.Add(n) }

type fallbackMeters struct {
	noop.MeterProvider
	tally *sharedTally
}

func (m fallbackMeters) Meter(string, ...metric.MeterOption) metric.Meter {
	return fallbackMeter{tally: m.tally}
}

type fallbackMeter struct {
	noop.Meter
	tally *sharedTally
}

func (m fallbackMeter) Int64Counter(name string, _ ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	if name == "gifting.gateway.limiter.fallback" {
		return m.tally, nil
	}
	return noop.Int64Counter{}, nil
}
