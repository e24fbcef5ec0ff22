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

	"github.com/partnergifting/platform/deploy/bench/fixture"
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
func launch(b *testing.B, f *fixture.Platform, binaries string, at placeOf) *program {
	b.Helper()
	p := &program{path: filepath.Join(binaries, string(at.name))}
	info, err := os.Stat(p.path)
	require.NoError(b, err)
	p.bytes = info.Size()
	command := exec.CommandContext(context.WithoutCancel(b.Context()), p.path, "serve")
	var output bytes.Buffer
	command.Env, command.Stdout, command.Stderr = environment(b, f, at), &output, &output
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
	ready := "http://" + loopback(f, at.port+metricsAbove) + "/readyz"
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

func loopback(f *fixture.Platform, port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(f.Config.PortBase+port))
}

// environment is that of the platform which the demo was prepared for.
func environment(b *testing.B, f *fixture.Platform, at placeOf) []string {
	b.Helper()
	secrets, of := secretsOf(b, f), local.Identity(f.Env, at.name)
	relay := func(database string) string {
		server := regexp.MustCompile(`//[^@]*@`).ReplaceAllLiteralString(fixture.URL(b, f.Database(database)),
			"//"+local.RelayRole(f.Config.Name)+":"+secrets["relayPassword"]+"@")
		return database + "=" + server
	}
	variables := map[string]string{
		"GRPC_ADDR": loopback(f, at.port), "HTTP_ADDR": loopback(f, at.port), "METRICS_ADDR": loopback(f, at.port+metricsAbove),
		"TENANTS_ADDR": loopback(f, 1), "CATALOG_ADDR": loopback(f, 2), "ORDERS_ADDR": loopback(f, 3),
		"PERSONAL_LINKS_ADDR": loopback(f, 4), "EVENTS_ADDR": loopback(f, 5), "WEBHOOK_ADDR": loopback(f, 6),
		"TLS_CERT_FILE": of.CertFile, "TLS_KEY_FILE": of.KeyFile, "TLS_CA_FILE": of.CAFile,
		"PUBLIC_URL": f.Env["GIFTING_URL"], "CLAIM_URL": strings.TrimSuffix(f.Env["GIFTING_URL"], "/api/public/v1") + "/c",
		"ALLOW_LOOPBACK_WEBHOOKS": "true", "REDIS_URL": f.Config.RedisURL, "FINGERPRINT_KEY": secrets["fingerprintKey"],
		"KAFKA_BROKERS": strings.Join(f.Config.KafkaBrokers, ","), "KAFKA_TOPIC": f.Config.Topic(),
		"KAFKA_FEED_GROUP": f.Config.Name + "-feed", "KAFKA_WEBHOOK_GROUP": f.Config.Name + "-webhook",
		"IMAGES_URL":     "file://" + filepath.Join(f.Config.Dir, "images") + "?create_dir=true&no_tmp_dir=true&metadata=skip",
		"OUTBOX_SOURCES": relay("orders") + "," + relay("links"),
	}
	if at.database != "" {
		variables["DATABASE_URL"] = fixture.URL(b, f.Database(at.database))
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
func secretsOf(b *testing.B, f *fixture.Platform) (secrets map[string]string) {
	b.Helper()
	raw, err := os.ReadFile(filepath.Join(f.Config.Dir, local.SecretsFile))
	require.NoError(b, err)
	require.NoError(b, json.Unmarshal(raw, &secrets))
	return secrets
}
