package admission_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnergifting/platform/gateway/internal/admission"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

const (
	mega   = 1 << 20
	budget = 40 * mega
)

func gate(t *testing.T) *admission.Gate {
	t.Helper()
	g, err := admission.New(admission.Config{RequestsPerKey: 3, RequestsPerTenant: 5, BodyBytes: budget}, noop.Meter{})
	require.NoError(t, err)
	return g
}

func enter(t *testing.T, g *admission.Gate, tenant string, key int32) *admission.Pass {
	t.Helper()
	p, err := g.Enter(t.Context(), tenant, key)
	require.NoError(t, err)
	return p
}

// requireRefused checks for an error that tells the caller to wait.
func requireRefused(t *testing.T, err error, code problem.Code) {
	t.Helper()
	p, ok := problem.As(err)
	require.True(t, ok, "%v", err)
	require.Equal(t, code, p.Code)
	require.GreaterOrEqual(t, p.RetryAfter, time.Second)
}

func TestAKeyAndItsTenantHaveAShareOfRequests(t *testing.T) {
	t.Parallel()
	g := gate(t)
	var passes []*admission.Pass
	for _, key := range []int32{1, 1, 1, 2, 2} {
		passes = append(passes, enter(t, g, "a", key))
	}
	_, err := g.Enter(t.Context(), "a", 1)
	requireRefused(t, err, problem.RateLimited)
	_, err = g.Enter(t.Context(), "a", 2)
	requireRefused(t, err, problem.RateLimited)
	enter(t, g, "b", 3).Leave()
	passes[0].Leave()
	_, err = g.Enter(t.Context(), "a", 1)
	require.NoError(t, err)
}

func TestATenantHasAQuarterOfTheBytes(t *testing.T) {
	t.Parallel()
	g := gate(t)
	first, second := enter(t, g, "a", 1), enter(t, g, "a", 2)
	require.NoError(t, first.Reserve(t.Context(), budget/4))
	requireRefused(t, second.Reserve(t.Context(), 1), problem.ServiceUnavailable)
	require.NoError(t, enter(t, g, "b", 3).Reserve(t.Context(), budget/4))
	first.Leave()
	require.NoError(t, second.Reserve(t.Context(), budget/4))
}

func TestLargeBodiesLeaveAQuarterToSmallOnes(t *testing.T) {
	t.Parallel()
	g := gate(t)
	for key, tenant := range []string{"a", "b", "c"} {
		require.NoError(t, enter(t, g, tenant, int32(key)).Reserve(t.Context(), budget/4))
	}
	small := enter(t, g, "d", 4)
	require.NoError(t, small.Reserve(t.Context(), 64<<10))
	requireRefused(t, small.Reserve(t.Context(), 1), problem.ServiceUnavailable)
}

func TestEverythingIsGivenBack(t *testing.T) {
	t.Parallel()
	g := gate(t)
	var group sync.WaitGroup
	var underWay, refused atomic.Int32
	for i := range 64 {
		group.Go(func() {
			for range 50 {
				p, err := g.Enter(t.Context(), "a", int32(i%4))
				if err != nil {
					refused.Add(1)
					continue
				}
				assert.LessOrEqual(t, underWay.Add(1), int32(5))
				assert.NoError(t, p.Reserve(t.Context(), 2*mega))
				underWay.Add(-1)
				p.Leave()
			}
		})
	}
	group.Wait()
	for range 5 {
		require.NoError(t, enter(t, g, "a", 9+refused.Add(1)).Reserve(t.Context(), 2*mega))
	}
	(*admission.Pass)(nil).Leave()
}

func TestABodyThatHasNoRoomIsRefusedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	g := gate(t)
	first := enter(t, g, "a", 1)
	require.NoError(t, first.Expect(t.Context(), budget/4))
	require.NoError(t, first.Reserve(t.Context(), budget/4))
	second := enter(t, g, "a", 2)
	requireRefused(t, second.Expect(t.Context(), mega), problem.ServiceUnavailable)
	first.Leave()
	require.NoError(t, second.Expect(t.Context(), mega))
}

func TestFewLargeBodiesAreWorkedOnAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gate(t)
		places := max(runtime.GOMAXPROCS(0)/2, 1)
		var working []*admission.Pass
		for i := range places {
			p := enter(t, g, strconv.Itoa(i), int32(i))
			require.NoError(t, p.Reserve(t.Context(), mega))
			require.NoError(t, p.Work(t.Context()))
			working = append(working, p)
		}
		small := enter(t, g, "small", 1000)
		require.NoError(t, small.Reserve(t.Context(), mega-1))
		require.NoError(t, small.Work(t.Context()))
		next := enter(t, g, "next", 1001)
		require.NoError(t, next.Reserve(t.Context(), mega))
		requireRefused(t, next.Work(t.Context()), problem.ServiceUnavailable)
		waited := make(chan error)
		go func() { waited <- next.Work(t.Context()) }()
		synctest.Wait()
		working[0].Leave()
		require.NoError(t, <-waited)
		next.Leave()
		last := enter(t, g, "last", 1002)
		require.NoError(t, last.Reserve(t.Context(), mega))
		require.NoError(t, last.Work(t.Context()))
	})
}

func TestACallerThatGoesWhileItWaitsIsNotRefused(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	g, err := admission.New(admission.Config{RequestsPerKey: 3, RequestsPerTenant: 5, BodyBytes: budget}, tel.Meters.Meter("test"))
	require.NoError(t, err)
	for i := range max(runtime.GOMAXPROCS(0)/2, 1) {
		p := enter(t, g, strconv.Itoa(i), int32(i))
		require.NoError(t, p.Reserve(t.Context(), mega))
		require.NoError(t, p.Work(t.Context()))
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	next := enter(t, g, "next", 1000)
	require.NoError(t, next.Reserve(t.Context(), mega))
	require.ErrorIs(t, next.Work(gone), context.Canceled)
	for cause, n := range tel.Values(t, "gifting.gateway.refusals") {
		require.Zero(t, n, cause)
	}
}

func TestThePlaceOfALargeBodyRestsAfterItsWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gate(t)
		places := max(runtime.GOMAXPROCS(0)/2, 1)
		waited := func(after time.Duration) time.Duration {
			var all []*admission.Pass
			for i := range places {
				p := enter(t, g, strconv.Itoa(i), int32(i))
				require.NoError(t, p.Reserve(t.Context(), mega))
				require.NoError(t, p.Work(t.Context()))
				all = append(all, p)
			}
			<-time.After(after)
			for _, p := range all {
				p.Worked()
				p.Worked()
				p.Leave()
			}
			began := time.Now()
			next := enter(t, g, "next", 1000)
			require.NoError(t, next.Reserve(t.Context(), mega))
			require.NoError(t, next.Work(t.Context()))
			next.Leave()
			<-time.After(time.Minute)
			return time.Since(began) - time.Minute
		}
		require.Equal(t, 300*time.Millisecond, waited(100*time.Millisecond))
		require.Equal(t, 2500*time.Millisecond, waited(10*time.Second), "at most")
	})
}
