package e2e_test

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	startWithin = 2 * time.Minute
	// recoverWithin covers the session of a killed member in Kafka, and the lease of a delivery that was in flight.
	recoverWithin = 2 * time.Minute
)

// It kills the whole platform right after the last response.
func TestAKilledPlatformLosesNoAnsweredChange(t *testing.T) {
	t.Parallel()
	cfg := harness.NewConfig(t)
	binary := buildPlatform(t)

	first := startChild(t, binary, cfg)
	p := harness.New(t, cfg, readEnv(t, cfg))
	box := receiver(t, p)
	const orders = 5
	var placed []string
	for range orders {
		id, _ := p.Post(t, p.Env["GIFTING_KEY"], "/orders", p.Order(t)).OK(t)["id"].(string)
		placed = append(placed, id)
	}
	p.Env["GIFTING_WEBHOOK_SECRET"] = p.Post(t, p.Env["GIFTING_KEY"], "/webhooks:rotate-secret", "").OK(t)["secret"].(string)
	require.Error(t, first.end(t, syscall.SIGKILL))

	second := startChild(t, binary, cfg)
	again := harness.New(t, cfg, readEnv(t, cfg))
	t.Run("addresses and keys are unchanged, and demo.env has the rotated secret",
		func(t *testing.T) { require.Equal(t, p.Env, again.Env) })
	t.Run("every order is there", func(t *testing.T) {
		for _, id := range placed {
			require.Equal(t, http.StatusOK, again.Get(t, again.Env["GIFTING_KEY"], "/orders/"+id).Status)
		}
	})
	t.Run("every event reaches the receiver, verified", func(t *testing.T) {
		for _, id := range placed {
			require.Eventually(t, func() bool { return verified(box, id) }, recoverWithin, 100*time.Millisecond)
		}
	})
	t.Run("every event is in the feed, once and in order", func(t *testing.T) {
		again.Await(t, again.Env["GIFTING_KEY"], recoverWithin, placed[orders-1])
		var inFeed []string
		for _, e := range again.Feed(t, again.Env["GIFTING_KEY"]) {
			inFeed = append(inFeed, e.Record(t)["id"].(string))
		}
		require.Equal(t, placed, inFeed)
	})
	t.Run("an orderly end leaves no process behind and exits with 0", func(t *testing.T) {
		require.NoError(t, second.end(t, os.Interrupt))
		require.True(t, deps.PortsFree(t.Context(), cfg.PortBase, local.PortSpan))
	})
}

// receiver is an inbox that outlives the platform. It has a key of its own, which receives the events of all orders of
// the tenant.
func receiver(t *testing.T, p *harness.Platform) *inbox.Inbox {
	t.Helper()
	made := p.NewKey(t, seed.Direct)
	box := inbox.New(made.GetWebhookSecret())
	server := httptest.NewServer(box.Handler())
	t.Cleanup(server.Close)
	_, err := p.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
		Actor: clerk, TenantId: seed.Direct, KeyId: made.GetKey().GetId(), Url: proto.String(server.URL),
	})
	require.NoError(t, err)
	return box
}

func verified(box *inbox.Inbox, orderID string) bool {
	for _, d := range box.Deliveries() {
		if d.Verified && strings.Contains(d.Raw, orderID) {
			return true
		}
	}
	return false
}

// buildPlatform builds the program that runs the whole platform.
func buildPlatform(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "gifting-local")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", binary,
		"github.com/partnergifting/platform/deploy/cmd/gifting-local")
	output, err := build.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return binary
}

// startChild starts the platform and returns when it has written demo.env.
func startChild(t *testing.T, binary string, cfg local.Config) *process {
	t.Helper()
	require.NoError(t, os.RemoveAll(local.EnvFile(cfg.Dir)))
	env := append(os.Environ(),
		"PORT_BASE="+strconv.Itoa(cfg.PortBase), "GIFTING_LOCAL_DIR="+cfg.Dir, "GIFTING_LOCAL_NAME="+cfg.Name,
		"GIFTING_POSTGRES_URL="+cfg.PostgresURL, "GIFTING_REDIS_URL="+cfg.RedisURL,
		"GIFTING_KAFKA_BROKERS="+strings.Join(cfg.KafkaBrokers, ","))
	return startProcess(t, env, func() bool {
		_, err := os.Stat(local.EnvFile(cfg.Dir))
		return err == nil
	}, binary)
}

// process is a program in its own process.
type process struct {
	command *exec.Cmd
	exited  chan error
}

// startProcess starts a program and returns when it is ready.
func startProcess(t *testing.T, env []string, ready func() bool, path string, args ...string) *process {
	t.Helper()
	p := &process{command: exec.CommandContext(context.WithoutCancel(t.Context()), path, args...), exited: make(chan error, 1)}
	var output strings.Builder
	p.command.Env, p.command.Stdout, p.command.Stderr = env, &output, &output
	require.NoError(t, p.command.Start())
	go func() { p.exited <- p.command.Wait() }()
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(startWithin)
	for !ready() {
		select {
		case err := <-p.exited:
			require.FailNow(t, "the program ended", "%v\n%s", err, output.String())
		case <-deadline:
			require.FailNow(t, "the program does not become ready")
		case <-ticker.C:
		}
	}
	return p
}

// end sends the signal and waits until the process has ended.
func (p *process) end(t *testing.T, signal os.Signal) error {
	t.Helper()
	if err := p.command.Process.Signal(signal); !errors.Is(err, os.ErrProcessDone) {
		require.NoError(t, err)
	}
	select {
	case err := <-p.exited:
		return err
	case <-time.After(startWithin):
		require.FailNow(t, "the program does not end")
		return nil
	}
}

// readEnv reads demo.env as a shell would.
func readEnv(t *testing.T, cfg local.Config) map[string]string {
	t.Helper()
	file, err := os.Open(local.EnvFile(cfg.Dir))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	out := map[string]string{}
	scanner := bufio.NewScanner(file)
	for scanner.Scan() {
		line, ok := strings.CutPrefix(scanner.Text(), "export ")
		require.True(t, ok, scanner.Text())
		name, value, ok := strings.Cut(line, "=")
		require.True(t, ok, line)
		require.NotEmpty(t, value, name)
		out[name] = value
	}
	require.NoError(t, scanner.Err())
	return out
}
