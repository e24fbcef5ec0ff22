package bench_test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
	"github.com/partnergifting/platform/deploy/processes"
)

// program is a program of the platform in a process of its own.
type program struct {
	name  string
	took  time.Duration
	proc  string
	bytes int64
}

// launch starts all programs one after the other and returns when each is ready.
func launch(b *testing.B, p *fixture.Platform) (programs []*program) {
	b.Helper()
	binaries := b.TempDir()
	b.Setenv("CGO_ENABLED", "0") // As in a release.
	require.NoError(b, processes.Build(b.Context(), binaries, "", []string{"-trimpath"}))
	loopback := func(port int) string {
		return net.JoinHostPort("127.0.0.1", strconv.Itoa(p.Config.PortBase+port))
	}
	peers := map[string]string{}
	for _, of := range processes.Programs() {
		if of.Peer != "" {
			peers[of.Peer] = loopback(of.Port)
		}
	}
	for _, of := range processes.Programs() {
		metrics := loopback(of.Port + processes.MetricsAbove)
		env, err := processes.Environment(p.Config, p.Env, of, processes.Addresses{Listen: loopback(of.Port), Metrics: metrics, Peers: peers})
		require.NoError(b, err)
		programs = append(programs, start(b, filepath.Join(binaries, string(of.Name)), env, "http://"+metrics+"/readyz"))
	}
	return programs
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
