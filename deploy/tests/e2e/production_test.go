package e2e_test

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bootstrap/bootstraptest"
	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/deploy/production"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

const productionPage = root + "/deploy/production/README.md"

// installation follows the page on this machine: its folder is where the commands run, bin has the programs.
type installation struct {
	cfg              local.Config
	dir, bin, prefix string
	// ports are the first ports of the machines.
	ports map[string]int
}

// TestProductionFromZero runs the commands of the page, and in between what systemd would run on its three machines.
func TestProductionFromZero(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(productionPage)
	require.NoError(t, err)
	page := string(content)
	before, after, found := strings.Cut(page, "\n## 5.")
	require.True(t, found)
	i := install(t)
	i.write(t, "machines.yaml", yamlAfter(t, page, "`machines.yaml`:"))
	i.write(t, "giftingctl.yaml", yamlAfter(t, page, "`giftingctl.yaml`:"))
	runExamples(t, i.dir, i.withAddresses(examplesIn(before)))
	units := i.units(t)
	for _, one := range units["gifting-migrate@.service"] {
		one.run(t)
	}
	for _, one := range units["gifting@.service"] {
		one.start(t)
	}
	require.Len(t, units["gifting-migrate@.service"], 6)
	require.Len(t, units["gifting@.service"], 2*len(programs.All()))
	for _, one := range units["gifting@.service"] {
		require.Eventually(t, one.ready, harness.Slow, 20*time.Millisecond, "%s is not ready", one.name)
	}
	runExamples(t, i.dir, i.withAddresses(examplesIn(after)))
}

func install(t *testing.T) *installation {
	t.Helper()
	i := &installation{
		cfg: harness.NewConfig(t), dir: t.TempDir(), bin: t.TempDir(), prefix: "zero_" + strings.ToLower(rand.Text()[:8]) + "_",
		ports: map[string]int{},
	}
	require.NotEmpty(t, i.cfg.KafkaBrokers, "the test needs a broker that `make deps` starts")
	const span = 20
	first, err := deps.FreeRow(t.Context(), 3*span)
	require.NoError(t, err)
	for at, machine := range []string{"a", "b", "c"} {
		i.ports[machine] = first + at*span
	}
	require.NoError(t, programs.Build(t.Context(), i.bin, "", nil))
	ctl := exec.CommandContext(t.Context(), "go", "build", "-o", i.bin+"/", "github.com/partnergifting/platform/deploy/cmd/giftingctl")
	output, err := ctl.CombinedOutput()
	require.NoError(t, err, "%s", output)
	t.Cleanup(func() { bootstraptest.Drop(t, i.cfg.PostgresURL, i.prefix) })
	return i
}

// yamlAfter returns the block of YAML that follows the text.
func yamlAfter(t *testing.T, page, text string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, text+"\n\n```yaml\n")
	require.True(t, found, text)
	block, _, found := strings.Cut(rest, "\n```")
	require.True(t, found)
	return block
}

// write writes a file of the page with the addresses of the test.
func (i *installation) write(t *testing.T, name, text string) {
	t.Helper()
	for machine, address := range map[string]string{"a": "10.0.1.11", "b": "10.0.1.12", "c": "10.0.1.13"} {
		text = strings.ReplaceAll(text, "address: "+address+",", fmt.Sprintf("address: 127.0.0.1, firstPort: %d,", i.ports[machine]))
	}
	brokers := strings.Join(i.cfg.KafkaBrokers, ",") + "\n  GIFTING_KAFKA_TOPIC: " + i.cfg.Topic() +
		"\n  GIFTING_KAFKA_FEED_GROUP: " + i.prefix + "feed\n  GIFTING_KAFKA_WEBHOOK_GROUP: " + i.prefix + "webhook"
	for old, with := range map[string]string{
		`"10.0.1.11:8081"`: strconv.Quote("127.0.0.1:" + strconv.Itoa(i.ports["a"]+1)),
		"kafka-0.example.com:9092,kafka-1.example.com:9092,kafka-2.example.com:9092": brokers,
		"s3://gifting-images?region=eu-north-1":                                      "file://" + filepath.ToSlash(i.dir) + "/images",
		"https://api.example.com/api/public/v1":                                      i.api(),
		"GIFTING_ENVIRONMENT: production":                                            "GIFTING_ENVIRONMENT: sandbox", // One broker.
	} {
		text = strings.ReplaceAll(text, old, with)
	}
	require.NoError(t, os.WriteFile(filepath.Join(i.dir, name), []byte(text), 0o600))
}

func (i *installation) api() string {
	return "http://127.0.0.1:" + strconv.Itoa(i.ports["a"]) + "/api/public/v1"
}

// withAddresses sets what the page's first block sets, which is not run.
func (i *installation) withAddresses(examples []example) []example {
	server, _ := url.Parse(i.cfg.PostgresURL)
	addresses := map[string]string{
		"POSTGRES": server.Host, "POSTGRES_OPTIONS": server.RawQuery, "ADMIN_URL": i.cfg.PostgresURL, "REDIS": i.cfg.RedisURL,
		"PREFIX": i.prefix, "API": i.api(), "PATH": i.bin + ":" + os.Getenv("PATH"),
	}
	var script strings.Builder
	for name, value := range addresses {
		script.WriteString("export " + name + "='" + value + "'\n")
	}
	return append([]example{{script: script.String()}}, examples...)
}

// unit is an instance of a unit on a machine.
type unit struct {
	name, command, metrics string
	args, env              []string
}

// units are the units that the page starts on all machines, by their files.
func (i *installation) units(t *testing.T) map[string][]unit {
	t.Helper()
	all := map[string][]unit{}
	for machine := range i.ports {
		files, err := filepath.Glob(filepath.Join(i.dir, "machines", machine, "etc", "gifting", "*.env"))
		require.NoError(t, err)
		for _, file := range files {
			name, of := strings.TrimSuffix(filepath.Base(file), ".env"), "gifting@.service"
			if migrates, found := strings.CutSuffix(name, "-migrate"); found {
				name, of = migrates, "gifting-migrate@.service"
			}
			all[of] = append(all[of], i.unit(t, machine, of, name))
		}
	}
	return all
}

// unit reads a unit as systemd does: the files of its environment, its credentials in a folder of their own, and its command.
func (i *installation) unit(t *testing.T, machine, file, instance string) unit {
	t.Helper()
	machineRoot, credentials := filepath.Join(i.dir, "machines", machine), t.TempDir()
	parsed, err := production.ReadUnit(file)
	require.NoError(t, err)
	expand := strings.NewReplacer("%i", instance, "%d", credentials).Replace
	for _, credential := range parsed.Service["LoadCredential"] {
		name, source, _ := strings.Cut(expand(credential), ":")
		content, err := os.ReadFile(filepath.Join(machineRoot, source))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(credentials, name), content, 0o400))
	}
	env := map[string]string{}
	for _, line := range parsed.Service["Environment"] {
		name, value, _ := strings.Cut(expand(line), "=")
		env[name] = value
	}
	for _, file := range parsed.Service["EnvironmentFile"] {
		maps.Copy(env, readEnvironmentFile(t, filepath.Join(machineRoot, expand(file))))
	}
	words := strings.Fields(expand(parsed.Service["ExecStart"][0]))
	program, found := strings.CutPrefix(words[0], "/usr/local/lib/gifting/")
	require.True(t, found)
	u := unit{
		name: instance + " on " + machine, command: filepath.Join(i.bin, program), args: words[1:], metrics: env["GIFTING_METRICS_ADDR"],
	}
	for name, value := range env {
		u.env = append(u.env, name+"="+value)
	}
	return u
}

// readEnvironmentFile reads a file in which every value is in double quotes.
func readEnvironmentFile(t *testing.T, path string) map[string]string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	env := map[string]string{}
	for line := range strings.Lines(string(content)) {
		name, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		require.True(t, found)
		env[name], err = strconv.Unquote(value)
		require.NoError(t, err)
	}
	return env
}

// run runs a unit of the type oneshot.
func (u unit) run(t *testing.T) {
	t.Helper()
	command := exec.CommandContext(t.Context(), u.command, u.args...)
	command.Env = u.env
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s: %s", u.name, output)
}

// start starts a unit and does not wait for it: systemd starts them in any order.
func (u unit) start(t *testing.T) {
	t.Helper()
	startProcess(t, u.env, func() bool { return true }, u.command, u.args...)
}

func (u unit) ready() bool {
	res, err := http.Get("http://" + u.metrics + "/readyz") //nolint:noctx // Eventually bounds it.
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}
