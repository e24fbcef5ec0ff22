package bench_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
	"github.com/partnergifting/platform/deploy/programs"
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
	b.Logf("%.0f orders/s; one process with all programs was ready after %s", perSecond, f.Took.Round(time.Millisecond))
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

// program is a program of the platform in a process of its own.
type program struct {
	name  string
	took  time.Duration
	proc  string
	bytes int64
}

// launch starts all programs one after the other and returns when each is ready.
func launch(b *testing.B, p *fixture.Platform) (launched []*program) {
	b.Helper()
	binaries := b.TempDir()
	b.Setenv("CGO_ENABLED", "0") // As in a release.
	require.NoError(b, programs.Build(b.Context(), binaries, "", []string{"-trimpath"}))
	for _, of := range programs.All() {
		env := os.Environ()
		for name, value := range p.Programs[of.Name] {
			env = append(env, name+"="+value)
		}
		readyz := "http://" + p.Programs[of.Name]["GIFTING_METRICS_ADDR"] + "/readyz"
		launched = append(launched, start(b, filepath.Join(binaries, string(of.Name)), env, readyz))
	}
	return launched
}

// start starts a program and returns when it is ready.
func start(b *testing.B, path string, env []string, readyz string) *program {
	b.Helper()
	p := &program{name: filepath.Base(path)}
	info, err := os.Stat(path)
	require.NoError(b, err)
	p.bytes = info.Size()
	command := exec.CommandContext(context.WithoutCancel(b.Context()), path, "serve")
	var output bytes.Buffer
	command.Env, command.Stdout, command.Stderr = env, &output, &output
	began := time.Now()
	require.NoError(b, command.Start())
	b.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if b.Failed() {
			b.Logf("%s: %s", p.name, &output)
		}
	})
	p.proc = "/proc/" + strconv.Itoa(command.Process.Pid)
	require.Eventually(b, func() bool { return ready(b, readyz) }, time.Minute, time.Millisecond, "%s does not get ready", p.name)
	p.took = time.Since(began)
	return p
}

func ready(b *testing.B, readyz string) bool {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, readyz, http.NoBody)
	require.NoError(b, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	require.NoError(b, res.Body.Close())
	return res.StatusCode == http.StatusOK
}
