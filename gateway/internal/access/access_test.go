package access

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"

	"github.com/partnergifting/platform/gateway/internal/limits"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

func TestARequestThatWasCountedHasTheHeadersOfTheLimitEvenIfItsKeyCannotBeLookedUpAgain(t *testing.T) {
	t.Parallel()
	directory := tenantstest.NewDirectory(t)
	directory.SetKeys(func([]byte) *commonv1.Principal { return &commonv1.Principal{TenantId: "t", TenantVersion: 1} })
	policy := limits.Policy{Name: "key", Limit: 300, Window: time.Minute}
	// Without Redis no version is known, so every request looks its key up.
	limiter, err := limits.New(limits.Deps{Meter: noop.Meter{}, Clock: time.Now, Log: slog.New(slog.DiscardHandler)},
		limits.Config{Policy: policy})
	require.NoError(t, err)
	checker := New(Deps{
		Directory: directory.Client, Limiter: limiter, Failures: limits.NewWindow(policy, time.Now),
		ClientIP: func(*http.Request) string { return "ip" }, Clock: time.Now,
	}, Config{Environment: apikey.Sandbox})
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/me", http.NoBody)
	request.Header.Set("Authorization", "Bearer "+apikey.New(apikey.Sandbox))

	_, err = checker.Check(http.Header{}, request)
	require.NoError(t, err)
	directory.Fail(problem.Unavailable())
	header := http.Header{}
	_, err = checker.Check(header, request)
	require.True(t, problem.Is(err, problem.ServiceUnavailable), "%v", err)
	require.Regexp(t, `^"key";r=298;t=\d+$`, header.Get("RateLimit"))
	require.Equal(t, `"key";q=300;w=60`, header.Get("RateLimit-Policy"))
}
