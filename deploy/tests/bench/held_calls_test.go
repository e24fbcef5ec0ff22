package bench_test

import (
	"io"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

const (
	// holdTenants have keysOfTenant keys each, and a key waits with callsOfKey calls, the most that it may.
	holdTenants, keysOfTenant, callsOfKey = 5, 100, 4
	heldAtOnce                            = 100
	// heldTime is how long all calls are held while they are measured.
	heldTime = 5 * time.Second
	// settleTime passes before: services that have just started let all calls read once more.
	settleTime = 7 * time.Second
)

// BenchmarkHeldCalls measures the memory of a gateway that holds 2,000 calls of GET /events until an event commits, against that
// of the same gateway before, and its processor time while no event commits. The gateway is a process of its own.
func BenchmarkHeldCalls(b *testing.B) {
	requireDeployed(b)
	var keys []string
	p := fixture.Deploy(b, func(p *fixture.Platform) {
		keys = holdKeys(b, p)
		p.Programs["gateway"]["GOMEMLIMIT"] = chartMemory
	})
	gateway := p.Of(b, "gateway")
	all := len(keys) * callsOfKey
	var before, after, most float64
	var idle, used, took time.Duration
	fixture.Once(b, func() {
		idle = timeOfIdle(gateway.PID)
		before = gateway.Memory(b, fixture.Resident)
		began := time.Now()
		leave := holdCalls(b, p.Env["GIFTING_URL"], gateway, keys)
		took = time.Since(began)
		<-time.After(settleTime)
		used = timeOfIdle(gateway.PID)
		after, most = gateway.Memory(b, fixture.Resident), gateway.Memory(b, fixture.MostResident)
		require.Equal(b, all, waiting(b, gateway), "calls have ended while they were measured")
		leave()
		require.Eventually(b, func() bool { return waiting(b, gateway) == 0 }, time.Minute, 50*time.Millisecond, "calls are still held")
	})
	b.ReportMetric(after-before, "MB")
	b.ReportMetric((after-before)*1024/float64(all), "KB/call")
	b.ReportMetric(most, "most-MB")
	b.ReportMetric((used-idle).Seconds()/heldTime.Seconds()*100, "cpu-%")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("%d calls, held after %s; gateway %.1f MB before, %.1f MB with them, at most %.1f MB", all, took, before, after, most)
	b.Logf("CPU in %s: %s before, %s with them; load %.1f", heldTime, idle, used, fixture.Load(b))
}

// timeOfIdle returns the processor time that a program uses in heldTime.
func timeOfIdle(pid int) time.Duration {
	start := fixture.TimeOf(pid)
	<-time.After(heldTime)
	return fixture.TimeOf(pid) - start
}

func holdKeys(b *testing.B, p *fixture.Platform) (keys []string) {
	b.Helper()
	for range holdTenants {
		tenant := p.NewTenant(b)
		for range keysOfTenant {
			created, err := tenant.NewKey(b.Context(), "")
			require.NoError(b, err)
			keys = append(keys, created.GetApiKey())
		}
	}
	return keys
}

// holdCalls sends the calls of all keys, each over a connection of its own, and returns a function that closes the connections. At
// most heldAtOnce calls are not held yet, so that what is measured is the cost of a held call, not that of a burst.
func holdCalls(b *testing.B, base string, gateway *fixture.Program, keys []string) (leave func()) {
	b.Helper()
	at, err := url.Parse(base)
	require.NoError(b, err)
	var conns []net.Conn
	leave = sync.OnceFunc(func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
	b.Cleanup(func() { leave() })
	for range callsOfKey {
		for _, key := range keys {
			conn, err := net.Dial("tcp", at.Host) //nolint:noctx // The benchmark closes it.
			require.NoError(b, err)
			conns = append(conns, conn)
			_, err = io.WriteString(conn,
				"GET "+at.Path+"/events?wait=30 HTTP/1.1\r\nHost: "+at.Host+"\r\nAuthorization: Bearer "+key+"\r\n\r\n")
			require.NoError(b, err)
			if len(conns)%heldAtOnce == 0 {
				require.Eventually(b, func() bool { return waiting(b, gateway) == len(conns) }, 15*time.Second, 5*time.Millisecond,
					"calls are not held")
			}
		}
	}
	return leave
}

var waitingLine = regexp.MustCompile(`(?m)^gifting_gateway_waiting(?:\{.*\})? (\d+)$`)

// waiting returns how many calls the gateway holds.
func waiting(b *testing.B, gateway *fixture.Program) int {
	b.Helper()
	text, err := gateway.Get(b.Context(), "/metrics")
	require.NoError(b, err)
	found := waitingLine.FindSubmatch(text)
	require.NotNil(b, found, "%s", text)
	n, err := strconv.Atoi(string(found[1]))
	require.NoError(b, err)
	return n
}
