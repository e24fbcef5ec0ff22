//go:build faults

package faults_test

import (
	"context"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/identity"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	requestsPerSecond = 100
	// lameDuck is enough for balancer and clients to find the instance restarted before.
	lameDuck = 2 * time.Second
)

// TestFaultARollingRestartFailsNoRequest runs two instances of every service and of the gateway, on the schema of this
// version, and restarts each in turn while requests come, open loop. All of them are answered, and every order placed
// stands in the feed once.
func TestFaultARollingRestartFailsNoRequest(t *testing.T) {
	binaries := buildPrograms(t, "", "")
	before := previousPrograms(t)
	if before == "" {
		before = binaries
	}
	s := newSite(t, plan{binaries: before, straight: true, logs: newRecord(t, 0).dir, more: []string{"GIFTING_LAME_DUCK=" + lameDuck.String()}})
	for _, i := range s.instances {
		i.requireMigrated(t)
		i.awaitReady(t)
	}
	tr := newTraffic(t, s)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go tr.balancer.look(ctx)
	require.Eventually(t, func() bool {
		return tr.balancer.gateways[0].ready.Load() && tr.balancer.gateways[1].ready.Load()
	}, startWithin, lookEvery)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tr.run(ctx, requestsPerSecond)
	}()
	for _, i := range s.instances {
		i.path = filepath.Join(binaries, filepath.Base(i.path))
		took := i.replace(t)
		t.Logf("%s %s is back after %s", time.Now().Format("15:04:05.000"), i.name, took.Round(time.Millisecond))
	}
	pauseFor(ctx, lameDuck)
	stop()
	<-done
	require.Empty(t, few(tr.report(t)))
	require.Greater(t, len(tr.orders), len(s.instances)*int(lameDuck.Seconds())*requestsPerSecond/5, "the traffic went on")
	requireOnceInFeed(t, s, tr.orders)
}

// requireMigrated asks its program whether its database is up to date, as a deployment may. The gateway has none.
func (i *instance) requireMigrated(t *testing.T) {
	t.Helper()
	if i.program == string(identity.Gateway) {
		return
	}
	check := exec.CommandContext(t.Context(), i.path, "migrate", "--check")
	check.Env = i.env
	output, err := check.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// awaitReady returns when the instance says that it is ready.
func (i *instance) awaitReady(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		return (&balancer{client: http.DefaultClient}).answersOK(t.Context(), "http://"+i.metrics+"/readyz")
	}, startWithin, lookEvery, "%s does not get ready, see %s", i.name, i.log)
}

// replace ends the instance as an orderly rollout does, and starts it again.
func (i *instance) replace(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	require.NoError(t, i.signal(syscall.SIGTERM))
	select {
	case <-i.exited:
	case <-time.After(startWithin):
		require.FailNow(t, i.name+" does not end")
	}
	require.True(t, i.command.ProcessState.Success(), "%s: %s, see %s", i.name, i.command.ProcessState, i.log)
	require.NoError(t, i.start(t.Context()))
	i.awaitReady(t)
	return time.Since(began)
}

func newTraffic(t *testing.T, s *site) *traffic {
	t.Helper()
	body := orderBody(s.env["GIFTING_PRODUCT_ID"], s.env["GIFTING_BRAND_ID"])
	body["externalOrderId"] = externalID
	tr := &traffic{
		balancer: &balancer{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: requestsPerSecond}}},
		order:    text(body), batch: text(batchBody(s.env["GIFTING_PRODUCT_ID"], s.env["GIFTING_BRAND_ID"], 1)), asked: map[string]int{},
	}
	for _, i := range s.of(identity.Gateway) {
		tr.balancer.gateways = append(tr.balancer.gateways, &upstream{base: baseOf(i.addr), readyz: "http://" + i.metrics + "/readyz"})
	}
	for range keysOfTraffic {
		tr.keys = append(tr.keys, s.newReader(t, "traffic", seed.Direct, "", allScopes...).key)
	}
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(hook.Close)
	r := s.newReader(t, "webhook", seed.Direct, "", allScopes...)
	_, err := s.keys.SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: r.keyID, Url: proto.String(hook.URL)})
	require.NoError(t, err)
	tr.webhookKey = r.key
	return tr
}

func requireOnceInFeed(t *testing.T, s *site, orders []string) {
	t.Helper()
	v := newVerdict()
	f := newFollower(s.newReader(t, "feed", seed.Direct, "", allScopes...), s.newClient(t, v), mathrand.New(mathrand.NewPCG(0, 0)))
	times := map[string]int{}
	require.Eventually(t, func() bool {
		for more := true; more; {
			more, _ = f.page(t.Context())
		}
		times = map[string]int{}
		for _, e := range f.events {
			if e.kind == "order.created" {
				times[e.subject]++
			}
		}
		return len(times) >= len(orders)
	}, time.Minute, time.Second, "the feed does not show all orders")
	for _, id := range orders {
		require.Equal(t, 1, times[id], "order %s", id)
	}
	require.Empty(t, v.wrong())
}
