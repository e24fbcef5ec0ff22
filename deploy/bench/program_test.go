package bench_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/stack"
	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/pkg/identity"
)

// placeOf a program: its port behind the platform's base, its database and the secret it seals with.
type placeOf struct {
	name           identity.Name
	port           int
	database, seal string
}

// places are in the order in which the programs start: whoever is asked comes before those who ask.
func places() []placeOf {
	return []placeOf{
		{identity.Tenants, 1, "tenants", "tenantsSealKeys"},
		{identity.Catalog, 2, "catalog", ""},
		{identity.Orders, 3, "orders", "ordersSealKeys"},
		{identity.PersonalLinks, 4, "links", "linksSealKeys"},
		{identity.Events, 5, "events", ""},
		{identity.Webhook, 6, "webhook", ""},
		{identity.Gateway, 0, "", ""},
	}
}

// program is one of the platform in a process of its own.
type program struct {
	path  string
	took  time.Duration
	proc  string
	bytes int64
}

// buildPrograms builds all programs as `make build` does and gives their folder.
func buildPrograms(b *testing.B) string {
	b.Helper()
	const platform = "github.com/partnergifting/platform/"
	dir := b.TempDir()
	args := []string{"build", "-trimpath", "-o", dir + "/", platform + "gateway/cmd/gateway"}
	for _, p := range places()[:len(places())-1] {
		args = append(args, platform+"services/"+string(p.name)+"/cmd/"+string(p.name))
	}
	command := exec.CommandContext(b.Context(), "go", args...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	require.NoError(b, err, "%s", output)
	return dir
}

// launch starts a program and returns when it says that it is ready.
func launch(b *testing.B, s *stack.Stack, binaries string, at placeOf) *program {
	b.Helper()
	p := &program{path: filepath.Join(binaries, string(at.name))}
	info, err := os.Stat(p.path)
	require.NoError(b, err)
	p.bytes = info.Size()
	command := exec.CommandContext(context.WithoutCancel(b.Context()), p.path, "serve")
	var output bytes.Buffer
	command.Env, command.Stdout, command.Stderr = environment(b, s, at), &output, &output
	began := time.Now()
	require.NoError(b, command.Start())
	b.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if b.Failed() {
			b.Logf("%s: %s", at.name, &output)
		}
	})
	p.proc = "/proc/" + strconv.Itoa(command.Process.Pid)
	ready := "http://" + loopback(s, at.port+metricsAbove) + "/readyz"
	require.Eventually(b, func() bool { return answers(b, ready) }, time.Minute, time.Millisecond, "%s does not get ready", at.name)
	p.took = time.Since(began)
	return p
}

func answers(b *testing.B, url string) bool {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(b, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	require.NoError(b, res.Body.Close())
	return res.StatusCode == http.StatusOK
}

const metricsAbove = 10

func loopback(s *stack.Stack, port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Config.PortBase+port))
}

// environment is that of the platform which the demo was prepared for.
func environment(b *testing.B, s *stack.Stack, at placeOf) []string {
	b.Helper()
	secrets, of := secretsOf(b, s), local.Identity(s.Env, at.name)
	relay := func(database string) string {
		server := regexp.MustCompile(`//[^@]*@`).ReplaceAllLiteralString(stack.URL(b, s.Name(database)),
			"//"+local.RelayRole(s.Config.Name)+":"+secrets["relayPassword"]+"@")
		return database + "=" + server
	}
	variables := map[string]string{
		"GRPC_ADDR": loopback(s, at.port), "HTTP_ADDR": loopback(s, at.port), "METRICS_ADDR": loopback(s, at.port+metricsAbove),
		"TENANTS_ADDR": loopback(s, 1), "CATALOG_ADDR": loopback(s, 2), "ORDERS_ADDR": loopback(s, 3),
		"PERSONAL_LINKS_ADDR": loopback(s, 4), "EVENTS_ADDR": loopback(s, 5), "WEBHOOK_ADDR": loopback(s, 6),
		"TLS_CERT_FILE": of.CertFile, "TLS_KEY_FILE": of.KeyFile, "TLS_CA_FILE": of.CAFile,
		"PUBLIC_URL": s.Env["GIFTING_URL"], "CLAIM_URL": strings.TrimSuffix(s.Env["GIFTING_URL"], "/api/public/v1") + "/c",
		"ALLOW_LOOPBACK_WEBHOOKS": "true", "REDIS_URL": s.Config.RedisURL, "FINGERPRINT_KEY": secrets["fingerprintKey"],
		"KAFKA_BROKERS": strings.Join(s.Config.KafkaBrokers, ","), "KAFKA_TOPIC": s.Config.Topic(),
		"KAFKA_FEED_GROUP": s.Config.Name + "-feed", "KAFKA_WEBHOOK_GROUP": s.Config.Name + "-webhook",
		"IMAGES_URL":     "file://" + filepath.Join(s.Config.Dir, "images") + "?create_dir=true&no_tmp_dir=true&metadata=skip",
		"OUTBOX_SOURCES": relay("orders") + "," + relay("links"),
	}
	if at.database != "" {
		variables["DATABASE_URL"] = stack.URL(b, s.Name(at.database))
	}
	if at.seal != "" {
		variables["SEAL_KEYS"] = secrets[at.seal]
	}
	env := os.Environ()
	for name, value := range variables {
		env = append(env, "GIFTING_"+name+"="+value)
	}
	return env
}

// secretsOf are those that the platform made up for itself.
func secretsOf(b *testing.B, s *stack.Stack) (secrets map[string]string) {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join(s.Config.Dir, local.SecretsFile))
	require.NoError(b, err)
	require.NoError(b, json.Unmarshal(raw, &secrets))
	return secrets
}
