package edge_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// interruptible is a gateway whose services answer no call until the test ends.
type interruptible struct {
	*gatewaytest.Fixture

	measured *telemetrytest.Record
	held     chan struct{}
}

func setupInterruptible(t *testing.T) *interruptible {
	t.Helper()
	f := &interruptible{measured: telemetrytest.New(), held: make(chan struct{}, 1)}
	end := make(chan struct{})
	services := gatewaytest.NewServices(t)
	t.Cleanup(func() { close(end) }) // Before the services end.
	services.Hold = func() {
		f.held <- struct{}{}
		<-end
	}
	f.Fixture = gatewaytest.NewWith(t, gatewaytest.Options{
		Services: services, Telemetry: f.measured.Telemetry,
		Configure: func(cfg *gateway.Config) { cfg.LameDuck, cfg.DrainTimeout = time.Millisecond, time.Second },
	})
	return f
}

// begin sends a request and returns when a service has it.
func (f *interruptible) begin(ctx context.Context, t *testing.T, method, address string) (ended <-chan error) {
	t.Helper()
	var body io.Reader = http.NoBody
	if method == http.MethodPost {
		body = strings.NewReader(`{"externalOrderId": "o-1"}`)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+f.Key)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "k")
	result := make(chan error, 1)
	go func() {
		resp, err := http.DefaultClient.Do(req)
		if err == nil {
			err = resp.Body.Close()
		}
		result <- err
	}()
	<-f.held
	return result
}

// statuses are how many requests have ended, by route and status.
func (f *interruptible) statuses(t *testing.T) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for labels, n := range f.measured.Values(t, "http.server.request.duration") {
		parts := map[string]string{}
		for label := range strings.SplitSeq(labels, ",") {
			name, value, _ := strings.Cut(label, "=")
			parts[name] = value
		}
		counts[parts["http.route"]+" "+parts["http.response.status_code"]] += int(n)
	}
	return counts
}

func TestACallerThatLeavesIsNoFailureOfThePlatform(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ method, path, want string }{
		"an order":  {http.MethodPost, "/api/public/v1/orders", "/orders 499"},
		"a claim":   {http.MethodPost, "/api/public/v1/webhooks:test", "/webhooks:test 499"},
		"a gift":    {http.MethodGet, "/c/" + gatewaytest.GiftToken, "/c/{token} 499"},
		"an image":  {http.MethodGet, "/api/public/v1/catalog/images/known", "/catalog/images/{file_id} 499"},
		"a dry run": {http.MethodPost, "/api/public/v1/orders:validate", "/orders:validate 499"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setupInterruptible(t)
			ctx, leave := context.WithCancel(t.Context())
			ended := f.begin(ctx, t, c.method, strings.TrimSuffix(f.BaseURL, "/api/public/v1")+c.path)
			leave()
			require.ErrorIs(t, <-ended, context.Canceled)
			eventually(t, func() bool { return f.statuses(t)[c.want] == 1 })
			for status := range f.statuses(t) {
				require.NotContains(t, status, " 5")
			}
		})
	}
}

func TestARequestThatTheEndOfTheGatewayCutsOffIsAFailureOfThePlatform(t *testing.T) {
	t.Parallel()
	f := setupInterruptible(t)
	ended := f.begin(t.Context(), t, http.MethodPost, f.BaseURL+"/orders")
	f.Shutdown()
	require.Error(t, <-ended)
	eventually(t, func() bool { return f.statuses(t)["/orders 503"] == 1 })
}
