package edge_test

import (
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

// holdOrder returns a gateway with an order that is being placed until release is called.
func holdOrder(t *testing.T, body string, configure func(*gateway.Config)) (f *gatewaytest.Fixture, release func()) {
	t.Helper()
	f = gatewaytest.NewWith(t, gatewaytest.Options{Configure: configure})
	arrived, free := make(chan struct{}), make(chan struct{})
	f.Hold = func() {
		close(arrived)
		<-free
	}
	var group sync.WaitGroup
	placing := *f
	group.Go(func() { assert.Equal(t, http.StatusCreated, placing.Do("POST", "/orders", body).Status) })
	<-arrived
	f.Hold = nil
	return f, func() {
		close(free)
		group.Wait()
	}
}

func TestAKeyCannotHoldManyRequests(t *testing.T) {
	t.Parallel()
	f, release := holdOrder(t, orderOf(1000), func(cfg *gateway.Config) { cfg.Limits.RequestsPerKey = 1 })
	got := f.Do("GET", "/me", "")
	require.Equal(t, http.StatusTooManyRequests, got.Status)
	require.Equal(t, "rate_limited", got.Parsed["code"])
	require.Equal(t, "1", got.Header.Get("Retry-After"))
	busy := f.Key
	f.UseNewCaller()
	require.Equal(t, http.StatusOK, f.Do("GET", "/me", "").Status)
	release()
	f.Key = busy
	require.Equal(t, http.StatusOK, f.Do("GET", "/me", "").Status)
}

func TestLargeBodiesOfATenantAreBounded(t *testing.T) {
	t.Parallel()
	f, release := holdOrder(t, orderOf(maxBody-1), func(cfg *gateway.Config) { cfg.Limits.BodyBytes = 4 * maxBody })
	got := f.Do("POST", "/orders", orderOf(maxBody/2))
	require.Equal(t, http.StatusServiceUnavailable, got.Status)
	require.Equal(t, "service_unavailable", got.Parsed["code"])
	require.Equal(t, "5", got.Header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, f.Do("GET", "/me", "").Status)
	release()
	require.Equal(t, http.StatusCreated, f.Do("POST", "/orders", orderOf(maxBody-1)).Status)
}

func TestABodyThatDoesNotArriveKeepsNoRoom(t *testing.T) {
	t.Parallel()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.Limits.BodyBytes = 4 * maxBody }})
	const waiting = 8
	finish := make([]func(), waiting)
	for i := range finish {
		from, to := io.Pipe()
		done := make(chan int)
		go func() {
			done <- f.For(t).DoReader("POST", "/orders", from, "Expect", "100-continue").Status
		}()
		_, err := io.WriteString(to, `{"unknown":"`) // This is read once the gateway wants the body.
		require.NoError(t, err)
		finish[i] = func() {
			require.NoError(t, to.Close())
			require.Equal(t, http.StatusBadRequest, <-done)
		}
	}
	require.Equal(t, http.StatusCreated, f.Do("POST", "/orders", orderOf(maxBody/2)).Status)
	for _, end := range finish {
		end()
	}
}
