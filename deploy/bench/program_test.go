package bench_test

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
	"github.com/partnergifting/platform/deploy/programs"
)

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
