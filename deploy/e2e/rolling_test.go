//go:build faults

package e2e_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
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
	binaries := buildPrograms(t, "")
	before := previousPrograms(t)
	if before == "" {
		before = binaries
	}
	s, instances := newPairs(t, before)
	tr := newTraffic(t, s, instances)
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
	for _, m := range instances {
		m.path = filepath.Join(binaries, filepath.Base(m.path))
		took := m.replace(t)
		t.Logf("%s %s is back after %s", time.Now().Format("15:04:05.000"), m.name, took.Round(time.Millisecond))
	}
	pauseFor(ctx, lameDuck)
	stop()
	<-done
	require.Empty(t, few(tr.report(t)))
	require.Greater(t, len(tr.orders), len(instances)*int(lameDuck.Seconds())*requestsPerSecond/5, "the traffic went on")
	requireOnceInFeed(t, s, tr.orders)
}

// newPairs prepares databases and demo with a stack in this process and starts two instances of everything in its place.
func newPairs(t *testing.T, binaries string) (*site, []*member) {
	t.Helper()
	cfg := newConfig(t)
	require.NotEmpty(t, cfg.KafkaBrokers, "set %s or run the tests by `make faults`", kafkaVariable)
	stack, err := local.Start(t.Context(), cfg)
	require.NoError(t, err)
	s := &site{platform: &platform{config: cfg, env: stack.Env}, kafka: &deps.Instance{Address: strings.Join(cfg.KafkaBrokers, ",")}}
	require.NoError(t, stack.Stop(t.Context()))

	others := cfg
	others.PortBase = freePorts(t)
	second := &platform{config: others}
	var instances []*member
	for _, m := range s.newMembers(t, binaries, "") {
		port, ok := portsOfPairs[m.name]
		if !ok {
			continue
		}
		m.env = append(m.env, "GIFTING_LAME_DUCK="+lameDuck.String())
		for _, peer := range peersOfPairs {
			m.env = append(m.env, "GIFTING_"+peer.variable+"="+s.addr(peer.port)+","+second.addr(peer.port))
		}
		m.metrics = s.addr(port + metricsAbove)
		twin := &member{
			name: m.name + "-2", path: m.path, addr: second.addr(port), metrics: second.addr(port + metricsAbove),
			log: strings.TrimSuffix(m.log, ".log") + "-2.log",
		}
		twin.env = append(append(twin.env, m.env...),
			"GIFTING_GRPC_ADDR="+twin.addr, "GIFTING_HTTP_ADDR="+twin.addr, "GIFTING_METRICS_ADDR="+twin.metrics)
		instances = append(instances, m, twin)
	}
	require.Len(t, instances, 2*len(portsOfPairs))
	t.Cleanup(func() {
		for _, m := range instances {
			m.end()
		}
	})
	for _, m := range instances {
		m.requireMigrated(t)
		require.NoError(t, m.start(t.Context()))
		m.awaitReady(t)
	}
	return s, instances
}

// portsOfPairs are the places of the instances in the span of ports of each row.
var portsOfPairs = map[string]int{"gateway": 0, "tenants": 1, "catalog": 2, "orders": 3, "personal-links": 4, "events": 5, "webhook": 6}

var peersOfPairs = []struct {
	variable string
	port     int
}{
	{"TENANTS_ADDR", 1}, {"CATALOG_ADDR", 2}, {"ORDERS_ADDR", 3}, {"PERSONAL_LINKS_ADDR", 4}, {"EVENTS_ADDR", 5}, {"WEBHOOK_ADDR", 6},
}

// requireMigrated asks the member's program whether its database is up to date, as a deployment may. The gateway has none.
func (m *member) requireMigrated(t *testing.T) {
	t.Helper()
	if strings.HasPrefix(m.name, "gateway") {
		return
	}
	check := exec.CommandContext(t.Context(), m.path, "migrate", "--check")
	check.Env = m.env
	output, err := check.CombinedOutput()
	require.NoError(t, err, "%s", output)
}

// awaitReady returns when the member says that it is ready.
func (m *member) awaitReady(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		return (&balancer{client: http.DefaultClient}).answersOK(t.Context(), "http://"+m.metrics+"/readyz")
	}, startWithin, lookEvery, "%s does not get ready, see %s", m.name, m.log)
}

// replace ends the member as an orderly rollout does, and starts it again.
func (m *member) replace(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	require.NoError(t, m.signal(syscall.SIGTERM))
	select {
	case <-m.exited:
	case <-time.After(startWithin):
		require.FailNow(t, m.name+" does not end")
	}
	require.True(t, m.command.ProcessState.Success(), "%s: %s, see %s", m.name, m.command.ProcessState, m.log)
	require.NoError(t, m.start(t.Context()))
	m.awaitReady(t)
	return time.Since(began)
}

func newTraffic(t *testing.T, s *site, instances []*member) *traffic {
	t.Helper()
	tr := &traffic{
		balancer: &balancer{client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: requestsPerSecond}}},
		order:    s.order(t, func(order map[string]any) { order["externalOrderId"] = externalID }),
		batch:    s.batch(t, nil), asked: map[string]int{},
	}
	for _, m := range instances {
		if strings.HasPrefix(m.name, "gateway") {
			tr.balancer.gateways = append(tr.balancer.gateways, &upstream{
				base: "http://" + m.addr + "/api/public/v1", readyz: "http://" + m.metrics + "/readyz",
			})
		}
	}
	for range keysOfTraffic {
		tr.keys = append(tr.keys, s.newKey(t, "").GetApiKey())
	}
	hook := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(hook.Close)
	tr.webhookKey = s.newKey(t, hook.URL).GetApiKey()
	return tr
}

func requireOnceInFeed(t *testing.T, s *site, orders []string) {
	t.Helper()
	key := s.newKey(t, "").GetApiKey()
	var times map[string]int
	require.Eventually(t, func() bool {
		times = map[string]int{}
		events, _ := s.tryFeed(t, key)
		for _, e := range events {
			if e.Type == "order.created" {
				times[answer{body: string(e.Data)}.object(t)["id"].(string)]++
			}
		}
		return len(times) >= len(orders)
	}, time.Minute, 5*time.Second, "the feed does not show all orders")
	for _, id := range orders {
		require.Equal(t, 1, times[id], "order %s", id)
	}
}
