package bench_test

import (
	"os"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/stack"
)

// BenchmarkFootprint starts every program in a process of its own, as a deployment does, and measures how long that takes,
// and its memory before and after it was given as much as it can take.
func BenchmarkFootprint(b *testing.B) {
	binaries := buildPrograms(b)
	p := &ordering{}
	s := stack.Prepare(b, func(s *stack.Stack) {
		operations := s.Operations(b)
		p.tenant = makeTenant(b, operations)
		p.keys = newKeyring(b, operations, p.tenant)
	})
	p.db = connectTo(b, stack.URL(b, s.Name("orders")))
	var programs []*program
	for _, at := range places() {
		programs = append(programs, launch(b, s, binaries, at))
	}
	idle := memory(b, programs, "VmRSS")
	edge := newEdgeClients(b, clients, s.Env["GIFTING_URL"], p.keys)
	perSecond, _ := rate(b, clients, func(i int) error {
		_, err := p.place(edge[i])
		return err
	})
	p.drain(b)
	_, _ = rate(b, clients, func(i int) error {
		_, err := edge[i].get("/orders?limit=100")
		return err
	})
	loaded := memory(b, programs, "VmHWM")
	b.Logf("%.0f orders/s; the whole in one process is ready %s after its start on empty databases", perSecond, s.Took.Round(time.Millisecond))
	for i, at := range places() {
		b.Run(string(at.name), func(b *testing.B) {
			b.ReportMetric(float64(programs[i].took.Milliseconds()), "start-ms")
			b.ReportMetric(idle[i], "idle-MB")
			b.ReportMetric(loaded[i], "loaded-MB")
			b.ReportMetric(float64(programs[i].bytes)/(1<<20), "binary-MB")
		})
	}
}

// memory reads a line of /proc/<pid>/status: VmRSS is what a program has in memory, VmHWM the most it ever had.
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
