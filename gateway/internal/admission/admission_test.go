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

	"github.com/partnergifting/platform/gateway/internal/admission"
	"github.com/partnergifting/platform/pkg/problem"
)

const (
	mega   = 1 << 20
	budget = 40 * mega
)

func gate() *admission.Gate {
	return admission.New(admission.Config{RequestsPerKey: 3, RequestsPerTenant: 5, BodyBytes: budget})
}

func admit(t *testing.T, g *admission.Gate, tenant string, key int32) *admission.Pass {
	t.Helper()
	p, err := g.Admit(tenant, key)
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
	g := gate()
	var passes []*admission.Pass
	for _, key := range []int32{1, 1, 1, 2, 2} {
		passes = append(passes, admit(t, g, "a", key))
	}
	_, err := g.Admit("a", 1)
	requireRefused(t, err, problem.RateLimited)
	_, err = g.Admit("a", 2)
	requireRefused(t, err, problem.RateLimited)
	admit(t, g, "b", 3).Release()
	passes[0].Release()
	_, err = g.Admit("a", 1)
	require.NoError(t, err)
}

func TestATenantHasAQuarterOfTheBytes(t *testing.T) {
	t.Parallel()
	g := gate()
	first, second := admit(t, g, "a", 1), admit(t, g, "a", 2)
	require.NoError(t, first.Reserve(budget/4))
	requireRefused(t, second.Reserve(1), problem.ServiceUnavailable)
	require.NoError(t, admit(t, g, "b", 3).Reserve(budget/4))
	first.Release()
	require.NoError(t, second.Reserve(budget/4))
}

func TestLargeBodiesLeaveAQuarterToSmallOnes(t *testing.T) {
	t.Parallel()
	g := gate()
	for key, tenant := range []string{"a", "b", "c"} {
		require.NoError(t, admit(t, g, tenant, int32(key)).Reserve(budget/4))
	}
	small := admit(t, g, "d", 4)
	require.NoError(t, small.Reserve(64<<10))
	requireRefused(t, small.Reserve(1), problem.ServiceUnavailable)
}

func TestEverythingIsGivenBack(t *testing.T) {
	t.Parallel()
	g := gate()
	var group sync.WaitGroup
	var inFlight, refused atomic.Int32
	for i := range 64 {
		group.Go(func() {
			for range 50 {
				p, err := g.Admit("a", int32(i%4))
				if err != nil {
					refused.Add(1)
					continue
				}
				assert.LessOrEqual(t, inFlight.Add(1), int32(5))
				assert.NoError(t, p.Reserve(2*mega))
				inFlight.Add(-1)
				p.Release()
			}
		})
	}
	group.Wait()
	for range 5 {
		require.NoError(t, admit(t, g, "a", 9+refused.Add(1)).Reserve(2*mega))
	}
	(*admission.Pass)(nil).Release()
}

func TestABodyThatHasNoRoomIsRefusedBeforeItIsRead(t *testing.T) {
	t.Parallel()
	g := gate()
	first := admit(t, g, "a", 1)
	require.NoError(t, first.Expect(budget/4))
	require.NoError(t, first.Reserve(budget/4))
	second := admit(t, g, "a", 2)
	requireRefused(t, second.Expect(mega), problem.ServiceUnavailable)
	first.Release()
	require.NoError(t, second.Expect(mega))
}

func TestFewLargeBodiesAreProcessedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gate()
		slots := max(runtime.GOMAXPROCS(0)/2, 1)
		var processing []*admission.Pass
		for i := range slots {
			p := admit(t, g, strconv.Itoa(i), int32(i))
			require.NoError(t, p.Reserve(mega))
			require.NoError(t, p.Process(t.Context()))
			processing = append(processing, p)
		}
		small := admit(t, g, "small", 1000)
		require.NoError(t, small.Reserve(mega-1))
		require.NoError(t, small.Process(t.Context()))
		next := admit(t, g, "next", 1001)
		require.NoError(t, next.Reserve(mega))
		requireRefused(t, next.Process(t.Context()), problem.ServiceUnavailable)
		waited := make(chan error)
		go func() { waited <- next.Process(t.Context()) }()
		synctest.Wait()
		processing[0].Release()
		require.NoError(t, <-waited)
		next.Release()
		last := admit(t, g, "last", 1002)
		require.NoError(t, last.Reserve(mega))
		require.NoError(t, last.Process(t.Context()))
	})
}

func TestACallerThatLeavesWhileItWaitsIsNotRefused(t *testing.T) {
	t.Parallel()
	g := gate()
	for i := range max(runtime.GOMAXPROCS(0)/2, 1) {
		p := admit(t, g, strconv.Itoa(i), int32(i))
		require.NoError(t, p.Reserve(mega))
		require.NoError(t, p.Process(t.Context()))
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	next := admit(t, g, "next", 1000)
	require.NoError(t, next.Reserve(mega))
	require.ErrorIs(t, next.Process(gone), context.Canceled)
}

func TestTheSlotOfALargeBodyStaysFreeForAWhile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := gate()
		slots := max(runtime.GOMAXPROCS(0)/2, 1)
		waited := func(after time.Duration) time.Duration {
			var all []*admission.Pass
			for i := range slots {
				p := admit(t, g, strconv.Itoa(i), int32(i))
				require.NoError(t, p.Reserve(mega))
				require.NoError(t, p.Process(t.Context()))
				all = append(all, p)
			}
			<-time.After(after)
			for _, p := range all {
				p.Processed()
				p.Processed()
				p.Release()
			}
			began := time.Now()
			next := admit(t, g, "next", 1000)
			require.NoError(t, next.Reserve(mega))
			require.NoError(t, next.Process(t.Context()))
			next.Release()
			<-time.After(time.Minute)
			return time.Since(began) - time.Minute
		}
		require.Equal(t, 300*time.Millisecond, waited(100*time.Millisecond))
		require.Equal(t, 2500*time.Millisecond, waited(10*time.Second), "at most")
	})
}
