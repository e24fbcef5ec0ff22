package bench_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// BenchmarkFootprint starts every program in a process of its own, as a deployment does. It measures how long that takes,
// and the memory of each before and after as many requests as the clients can send.
func BenchmarkFootprint(b *testing.B) {
	f := &ordersFixture{}
	fixture.Prepare(b, func(p *fixture.Platform) {
		f.Platform = p
		f.use(b, p.NewTenant(b))
	})
	programs := launch(b, f.Platform)
	idle := memory(b, programs, "VmRSS")
	all := f.clients(b, clients)
	perSecond, _ := sendAll(b, clients, func(i int) error { return f.send(all[i]) })
	f.drain(b)
	_, _ = sendAll(b, clients, func(i int) error {
		_, err := all[i].get("/orders?limit=100")
		return err
	})
	loaded := memory(b, programs, "VmHWM")
	b.Logf("%.0f orders/s; all programs in one process are ready %s after their start on empty databases", perSecond, f.Took.Round(time.Millisecond))
	for i, p := range programs {
		b.Run(p.name, func(b *testing.B) {
			b.ReportMetric(float64(p.took.Milliseconds()), "start-ms")
			b.ReportMetric(idle[i], "idle-MB")
			b.ReportMetric(loaded[i], "loaded-MB")
			b.ReportMetric(float64(p.bytes)/(1<<20), "binary-MB")
		})
	}
}

// memory reads a line of /proc/<pid>/status: VmRSS is the memory of a program, VmHWM the most it ever had.
func memory(b *testing.B, of []*program, line string) (megabytes []float64) {
	b.Helper()
	number := regexp.MustCompile(`(?m)^` + line + `:\s+(\d+) kB$`)
	for _, p := range of {
		status, err := os.ReadFile(p.proc + "/status")
		require.NoError(b, err)
		found := number.FindSubmatch(status)
		require.NotNil(b, found, "%s", status)
		kilobytes, err := strconv.Atoi(string(found[1]))
		require.NoError(b, err)
		megabytes = append(megabytes, float64(kilobytes)/1024)
	}
	return megabytes
}
