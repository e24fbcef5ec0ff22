package gateway_test

import (
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// leaver is a gateway that can be told to end.
type leaver struct {
	backend       *backend
	base, metrics string
	end           context.CancelFunc
	ended         chan error
}

func startLeaver(t *testing.T, lameDuck, drain time.Duration) *leaver {
	t.Helper()
	b := startBackend(t)
	addr, metrics := freeAddr(t), freeAddr(t)
	tel, err := telemetry.New(t.Context(), "gateway", telemetry.Config{MetricsAddr: metrics}, io.Discard)
	require.NoError(t, err)
	edge, err := gateway.New(t.Context(), gateway.Config{
		HTTPAddr: addr, Environment: apikey.Sandbox, PublicURL: "http://" + addr + "/api/public/v1", LameDuck: lameDuck, DrainTimeout: drain,
		TenantsAddr: b.addr, CatalogAddr: b.addr, OrdersAddr: b.addr, PersonalLinksAddr: b.addr, EventsAddr: b.addr, WebhookAddr: b.addr,
		RedisURL: os.Getenv(redisVariable), FingerprintKey: base64.StdEncoding.EncodeToString(make([]byte, 32)),
	}, tel)
	require.NoError(t, err)
	l := &leaver{backend: b, base: "http://" + addr + "/api/public/v1", metrics: "http://" + metrics, ended: make(chan error, 1)}
	var ctx context.Context
	ctx, l.end = context.WithCancel(t.Context())
	go func() { l.ended <- edge.Run(ctx) }()
	t.Cleanup(l.end)
	require.Eventually(t, func() bool { return l.readiness(t) == http.StatusOK }, startWithin, 5*time.Millisecond)
	return l
}

func (l *leaver) readiness(t *testing.T) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.metrics+"/readyz", http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	require.NoError(t, res.Body.Close())
	return res.StatusCode
}

// post says how it was answered, and whether the connection is closed after it.
func (l *leaver) post(ctx context.Context) (status int, closed bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.base+"/orders", strings.NewReader(`{"externalOrderId": "o-1"}`))
	if err != nil {
		return 0, false, err
	}
	req.Header.Set("Authorization", "Bearer "+apikey.New(apikey.Sandbox))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Idempotency-Key", "once")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, false, err
	}
	return res.StatusCode, res.Close, res.Body.Close()
}

func TestAGatewayThatEndsTakesRequestsAndHangsUpAfterEach(t *testing.T) {
	l := startLeaver(t, time.Second, 0)
	_, closed, err := l.post(t.Context())
	require.NoError(t, err)
	require.False(t, closed)
	l.end()
	require.Eventually(t, func() bool { return l.readiness(t) == http.StatusServiceUnavailable }, startWithin, 5*time.Millisecond)
	for range 3 {
		status, closed, err := l.post(t.Context())
		require.NoError(t, err)
		require.Equal(t, http.StatusCreated, status)
		require.True(t, closed, "the caller must not use the connection again")
	}
	require.NoError(t, <-l.ended)
	require.Zero(t, l.readiness(t))
}

func TestARequestUnderWayIsAnsweredBeforeTheEnd(t *testing.T) {
	l := startLeaver(t, 0, 0)
	entered, release := make(chan struct{}), make(chan struct{})
	l.backend.hold = func() { close(entered); <-release }
	answered := make(chan error, 1)
	var status int
	go func() {
		var err error
		status, _, err = l.post(t.Context())
		answered <- err
	}()
	<-entered
	l.end()
	require.Eventually(t, func() bool { return l.readiness(t) == http.StatusServiceUnavailable }, startWithin, 5*time.Millisecond)
	require.Empty(t, answered)
	close(release)
	require.NoError(t, <-answered)
	require.Equal(t, http.StatusCreated, status)
	require.NoError(t, <-l.ended)
}

func TestARequestThatOutlastsTheDrainIsCutOffAndNoFault(t *testing.T) {
	l := startLeaver(t, 0, 50*time.Millisecond)
	entered, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	l.backend.hold = func() { close(entered); <-release }
	cut := make(chan error, 1)
	go func() {
		_, _, err := l.post(t.Context())
		cut <- err
	}()
	<-entered
	l.end()
	require.NoError(t, <-l.ended)
	require.Error(t, <-cut)
}
