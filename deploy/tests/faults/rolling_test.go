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

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/identity"
)

const (
	requestsPerSecond = 100
	// lameDuck is long enough for the balancer and clients to find the previously restarted instance.
	lameDuck = 2 * time.Second
)

// TestFaultARollingRestartFailsNoRequest runs two instances of every program on the schema of this version and restarts one
// after another, while requests arrive at a fixed rate. Every request must succeed, and every order must be in the feed once.
func TestFaultARollingRestartFailsNoRequest(t *testing.T) {
	// The restart is an upgrade, during which the previous version runs on the new schema beside new instances.
	binaries, before := buildPrograms(t, "", nil), buildPrograms(t, previousSources(t), nil)
	env := []string{"GIFTING_LAME_DUCK=" + lameDuck.String()}
	d := newDeployment(t, options{binaries: before, direct: true, logs: newReport(t, 0).dir, env: env})
	for _, i := range d.instances {
		i.requireMigrated(t)
		i.awaitReady(t)
	}
	tr := newTraffic(t, d)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go tr.watch(ctx)
	require.Eventually(t, func() bool {
		return tr.gateways[0].isReady.Load() && tr.gateways[1].isReady.Load()
	}, startTimeout, readinessInterval)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tr.run(ctx, requestsPerSecond)
	}()
	for _, i := range d.instances {
		i.path = filepath.Join(binaries, filepath.Base(i.path))
		took := i.restart(t)
		t.Logf("%s %s is back after %s", time.Now().Format("15:04:05.000"), i.name, took.Round(time.Millisecond))
	}
	sleep(ctx, lameDuck)
	stop()
	<-done
	require.Empty(t, shorten(tr.report(t)))
	require.Greater(t, len(tr.orders), len(d.instances)*int(lameDuck.Seconds())*requestsPerSecond/5, "the traffic went on")
	requireOnceInFeed(t, d, tr.orders)
}

// requireMigrated checks the schema with the program's own command. The gateway has no database.
func (i *instance) requireMigrated(t *testing.T) {
	t.Helper()
	if i.program.Name == identity.Gateway {
		return
	}
	check := exec.CommandContext(t.Context(), i.path, "migrate", "--check")
	check.Env = i.env
	output, err := check.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// awaitReady returns when the instance is ready.
func (i *instance) awaitReady(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool { return i.ready(t.Context()) }, startTimeout, readinessInterval,
		"%s does not become ready, see %s", i.name, i.log)
}

// restart stops the instance as a rollout does, and starts it again.
func (i *instance) restart(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	i.end(t)
	require.NoError(t, i.start(t.Context()))
	i.awaitReady(t)
	return time.Since(began)
}

// end stops the instance as a rollout does.
func (i *instance) end(t *testing.T) {
	t.Helper()
	require.NoError(t, i.signal(syscall.SIGTERM))
	select {
	case <-i.exited:
	case <-time.After(startTimeout):
		require.FailNow(t, i.name+" does not end")
	}
	require.True(t, i.command.ProcessState.Success(), "%s: %s, see %s", i.name, i.command.ProcessState, i.log)
}

func newTraffic(t *testing.T, d *deployment) *traffic {
	t.Helper()
	body := orderBody(d.env["GIFTING_PRODUCT_ID"], d.env["GIFTING_BRAND_ID"])
	body["externalOrderId"] = externalID
	tr := &traffic{
		http:  &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: requestsPerSecond}},
		order: toJSON(body), batch: toJSON(batchBody(d.env["GIFTING_PRODUCT_ID"], d.env["GIFTING_BRAND_ID"], 1)), sent: map[string]int{},
	}
	for _, i := range d.of(identity.Gateway) {
		tr.gateways = append(tr.gateways, &gateway{instance: i})
	}
	for range trafficKeys {
		tr.keys = append(tr.keys, d.newReader(t, "traffic", seed.Direct, "", allScopes...).key)
	}
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(hook.Close)
	r := d.newReader(t, "webhook", seed.Direct, "", allScopes...)
	d.setWebhook(t, r, hook.URL)
	tr.webhookKey = r.key
	return tr
}

func requireOnceInFeed(t *testing.T, d *deployment, orders []string) {
	t.Helper()
	r := newResults()
	f := newFollower(d.newReader(t, "feed", seed.Direct, "", allScopes...), d.newClient(t, r), mathrand.New(mathrand.NewPCG(0, 0)))
	times := map[string]int{}
	require.Eventually(t, func() bool {
		for more := true; more; {
			more, _ = f.readPage(t.Context())
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
	require.Empty(t, r.violations())
}
