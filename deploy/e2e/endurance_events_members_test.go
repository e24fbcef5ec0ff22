//go:build faults

package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/pkg/identity"
)

// member is a service as a process that a supervisor starts again when it ends.
type member struct {
	name string
	path string
	addr string
	env  []string
	log  string
	// metrics is host:port of its /readyz, where a test asks for that.
	metrics string

	// busy is held by the one fault that is under way with this member.
	busy    sync.Mutex
	command *exec.Cmd
	exited  chan struct{}
}

var errNoMember = errors.New("does not take connections")

// start returns when the member takes connections. One that ends because a server is down is started again.
func (m *member) start(ctx context.Context) error {
	deadline := time.Now().Add(startWithin)
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if err := m.launch(ctx); err != nil {
			return err
		}
		if m.listens(ctx, deadline) {
			return nil
		}
		m.end()
		pauseFor(ctx, 200*time.Millisecond)
	}
	return fmt.Errorf("%s %w, see %s", m.name, errNoMember, m.log)
}

func (m *member) launch(ctx context.Context) error {
	output, err := os.OpenFile(m.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	m.command = exec.CommandContext(context.WithoutCancel(ctx), m.path, "serve")
	m.command.Env, m.command.Stdout, m.command.Stderr = m.env, output, output
	if err := m.command.Start(); err != nil {
		return errors.Join(err, output.Close())
	}
	exited, command := make(chan struct{}), m.command
	m.exited = exited
	go func() {
		_ = command.Wait() // It is killed, or its log says why it ended.
		_ = output.Close()
		close(exited)
	}()
	return nil
}

func (m *member) listens(ctx context.Context, deadline time.Time) bool {
	for time.Now().Before(deadline) && ctx.Err() == nil {
		if conn, err := new(net.Dialer).DialContext(ctx, "tcp", m.addr); err == nil {
			_ = conn.Close()
			return true
		}
		select {
		case <-m.exited:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return false
}

// end kills the member.
func (m *member) end() {
	if m.command != nil && m.command.Process != nil {
		_ = m.command.Process.Kill()
		<-m.exited
	}
}

func (m *member) signal(signal syscall.Signal) error { return m.command.Process.Signal(signal) }

// Places in the span of ports of a second relay with its feed, and of a second sender.
const secondEvents, secondWebhook = 7, 8

// newMembers gives every service; the relay is two, of which one leads, and so is the sender of webhooks.
func (s *site) newMembers(t *testing.T, binaries, relayFault string) []*member {
	t.Helper()
	events := "events"
	if relayFault != "" {
		events = brokenEvents
	}
	others := map[string]string{
		"TENANTS_ADDR": s.env["GIFTING_GRPC_TENANTS"], "CATALOG_ADDR": s.env["GIFTING_GRPC_CATALOG"],
		"ORDERS_ADDR": s.env["GIFTING_GRPC_ORDERS"], "PERSONAL_LINKS_ADDR": s.env["GIFTING_GRPC_LINKS"],
		"EVENTS_ADDR": s.env["GIFTING_GRPC_EVENTS"], "WEBHOOK_ADDR": s.env["GIFTING_GRPC_WEBHOOK"],
		"REDIS_URL": s.config.RedisURL, "PUBLIC_URL": s.env["GIFTING_URL"], "ALLOW_LOOPBACK_WEBHOOKS": "true",
		"KAFKA_BROKERS": s.kafka.Address, "KAFKA_TOPIC": s.config.Topic(), "KAFKA_FEED_GROUP": s.config.Name + "-feed",
		"KAFKA_WEBHOOK_GROUP": s.config.Name + "-webhook", "LOG_LEVEL": "WARN", "RELAY_FAULT": relayFault,
		"FINGERPRINT_KEY": s.secret(t, "fingerprintKey"), "CLAIM_URL": strings.TrimSuffix(s.env["GIFTING_URL"], "/api/public/v1") + "/c",
		"OUTBOX_SOURCES": "orders=" + s.relayURL(t, "orders") + ",links=" + s.relayURL(t, "links"),
		"IMAGES_URL":     "file://" + filepath.Join(s.config.Dir, "images") + "?create_dir=true&no_tmp_dir=true&metadata=skip",
	}
	var members []*member
	for _, d := range []struct {
		name, binary, database, seal string
		port                         int
	}{
		{"tenants", "tenants", "tenants", "tenantsSealKeys", 1},
		{"catalog", "catalog", "catalog", "", 2},
		{"orders", "orders", "orders", "ordersSealKeys", 3},
		{"personal-links", "personal-links", "links", "linksSealKeys", 4},
		{"events", events, "events", "", 5},
		{"events-2", events, "events", "", secondEvents},
		{"webhook", "webhook", "webhook", "", 6},
		{"webhook-2", "webhook", "webhook", "", secondWebhook},
		{"gateway", "gateway", "", "", 0},
	} {
		m := &member{name: d.name, path: filepath.Join(binaries, d.binary), addr: s.addr(d.port), env: os.Environ()}
		m.log = filepath.Join(logDir(t), d.name+".log")
		own := s.identified(identity.Name(strings.TrimSuffix(d.name, "-2")), map[string]string{
			"GRPC_ADDR": m.addr, "HTTP_ADDR": m.addr, "METRICS_ADDR": s.addr(d.port + metricsAbove), "DATABASE_URL": s.database(d.database),
		})
		if d.seal != "" {
			own["SEAL_KEYS"] = s.secret(t, d.seal)
		}
		for _, variables := range []map[string]string{others, own} {
			for name, value := range variables {
				m.env = append(m.env, "GIFTING_"+name+"="+value)
			}
		}
		members = append(members, m)
	}
	return members
}

// brokenEvents is the service with the relay that is broken on purpose.
const brokenEvents = "events-broken"

// buildServices builds all of them into a folder.
func buildServices(t *testing.T) string {
	t.Helper()
	dir := buildPrograms(t, "")
	broken := exec.CommandContext(t.Context(), "go", "build", "-tags", "relayfault", "-o", filepath.Join(dir, brokenEvents),
		"github.com/partnergifting/platform/services/events/cmd/events")
	output, err := broken.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return dir
}

// logDir is where the members' logs go: kept after the test when the variable names a folder.
func logDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("GIFTING_TEST_LOG_DIR")
	if dir == "" {
		return t.TempDir()
	}
	require.NoError(t, os.MkdirAll(dir, 0o750))
	return dir
}

// relayURL is of the login that may only read and empty the outbox.
func (s *site) relayURL(t *testing.T, database string) string {
	t.Helper()
	u, err := url.Parse(s.database(database))
	require.NoError(t, err)
	u.User = url.UserPassword(local.RelayRole(s.config.Name), s.secret(t, "relayPassword"))
	return u.String()
}

func (s *site) member(name string) *member {
	for _, m := range s.members {
		if m.name == name {
			return m
		}
	}
	return nil
}
