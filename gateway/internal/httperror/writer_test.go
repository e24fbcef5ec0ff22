package httperror_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func TestNoWaitIsRoundedToZero(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]string{
		1: "1", time.Millisecond: "1", 400 * time.Millisecond: "1", time.Second: "1", time.Second + 1: "2", 2 * time.Second: "2",
	} {
		for _, code := range []problem.Code{problem.RateLimited, problem.ServiceUnavailable, problem.IdempotencyInProgress} {
			e := problem.New(code, "why")
			e.RetryAfter = wait
			// As a service returns it.
			overGRPC := problem.FromStatus(e.Status())
			w := httptest.NewRecorder()
			httperror.Writer{Log: slog.New(slog.DiscardHandler)}.Write(t.Context(), w, overGRPC)
			require.Equal(t, want, w.Header().Get("Retry-After"), wait)
		}
		header := http.Header{}
		httperror.SetRetryAfter(header, wait)
		require.Equal(t, want, header.Get("Retry-After"))
	}
}

func TestARefusedKeyHasNoRate(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	w.Header().Set("RateLimit", "x")
	w.Header().Set("RateLimit-Policy", "x")
	httperror.Writer{}.Write(t.Context(), w, problem.New(problem.InvalidAPIKey, "why"))
	require.Empty(t, w.Header().Values("RateLimit"))
	require.Empty(t, w.Header().Values("RateLimit-Policy"))
}

// The client has logged it, once a minute.
func TestACallThatAnOlderServiceRefusedIsNotLoggedAgain(t *testing.T) {
	t.Parallel()
	refuse := func(context.Context, string, any, any, *grpc.ClientConn, grpc.UnaryInvoker, ...grpc.CallOption) error {
		return status.Error(codes.Unimplemented, "unknown method")
	}
	conn, err := rpc.Dial(rpc.Target{Addr: "127.0.0.1:1"}, telemetry.Discard(), refuse)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	var log telemetrytest.Log
	writer, w := httperror.Writer{Log: slog.New(slog.NewTextHandler(&log, nil))}, httptest.NewRecorder()
	require.Equal(t, problem.ServiceUnavailable, writer.Write(t.Context(), w, conn.Invoke(t.Context(), "/x/Later", nil, nil)))
	require.Equal(t, "2", w.Header().Get("Retry-After"))
	require.Empty(t, log.String())
	writer.Write(t.Context(), httptest.NewRecorder(), problem.Unavailable())
	require.Contains(t, log.String(), "request failed")
}
