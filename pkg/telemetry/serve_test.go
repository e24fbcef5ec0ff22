package telemetry

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/test/bufconn"
)

// The metrics port closes connections that send or take nothing, so they do not pile up.
func TestIdleConnectionsOfTheMetricsPortAreClosed(t *testing.T) {
	t.Parallel()
	request := "GET /livez HTTP/1.1\r\nHost: metrics\r\n\r\n"
	for name, c := range map[string]struct {
		sends string
		ends  time.Duration
	}{
		"a header that never ends":      {"GET /livez HTTP/1.1\r\n", headerTimeout},
		"a body that never comes":       {"POST /slow HTTP/1.1\r\nHost: metrics\r\nContent-Length: 1\r\n\r\n", readTimeout},
		"no further request":            {request, idleTimeout},
		"no further request after many": {request + request, idleTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				listener := bufconn.Listen(4096)
				served := make(chan error, 1)
				mux := http.NewServeMux()
				mux.HandleFunc("/livez", func(http.ResponseWriter, *http.Request) {})
				mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
				go func() { served <- serve(ctx, listener, mux) }()
				conn, err := listener.DialContext(ctx)
				require.NoError(t, err)
				began := time.Now()
				_, err = io.WriteString(conn, c.sends)
				require.NoError(t, err)
				_, err = io.Copy(io.Discard, conn) // Until the server closes the connection.
				require.NoError(t, err)
				require.InDelta(t, c.ends, time.Since(began), float64(time.Second))
				stop()
				require.NoError(t, <-served)
			})
		})
	}
}

func TestEverySeriesHasTheServicesNameAndNoScope(t *testing.T) {
	t.Parallel()
	tel, err := New(t.Context(), "example", Config{}, io.Discard)
	require.NoError(t, err)
	calls, err := tel.Meters.Meter("test").Int64Counter("test.calls")
	require.NoError(t, err)
	calls.Add(t.Context(), 2)

	scrape := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody)
	// The Accept header must not change a name.
	scrape.Header.Set("Accept", "application/openmetrics-text; version=1.0.0; escaping=allow-utf-8")
	answer := httptest.NewRecorder()
	tel.handler(func(context.Context) error { return nil }).ServeHTTP(answer, scrape)
	exposed := answer.Body.String()
	require.Contains(t, exposed, `test_calls_total{service_name="example"} 2`)
	require.Regexp(t, `go_goroutines\{service_name="example"\} \d+`, exposed)
}
