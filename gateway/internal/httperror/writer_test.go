package httperror_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
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
