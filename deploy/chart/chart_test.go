//go:build manifests

package chart_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/chart"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
)

const dir = "../../helm/gifting"

func read(t *testing.T, set string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(filepath.Join(dir, "ci", set+"-values.yaml"))
	require.NoError(t, err)
	return values
}

var sets = []string{"small", "production", "airgapped"}

func TestTheChartKeepsTheRulesWithEverySetOfValues(t *testing.T) {
	t.Parallel()
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, chart.Lint(dir, read(t, set)))
			requireNoProblems(t, read(t, set))
		})
	}
}

func requireNoProblems(t *testing.T, values map[string]any) {
	t.Helper()
	objects, err := chart.Render(dir, values)
	require.NoError(t, err)
	problems := chart.Check(objects)
	require.Empty(t, problems, strings.Join(problems, "\n"))
}

// changedValues returns the lean values, overridden by the JSON text.
func changedValues(t *testing.T, text string) map[string]any {
	t.Helper()
	var values map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &values))
	return chartutil.CoalesceTables(values, lean(t))
}

func TestEverySwitchLeavesAChartThatKeepsTheRules(t *testing.T) {
	t.Parallel()
	for name, over := range map[string]string{
		"no network policies":           `{"networkPolicy": {"enabled": false}}`,
		"no budgets":                    `{"podDisruptionBudget": {"enabled": false}}`,
		"no migrations":                 `{"migrations": {"enabled": false}}`,
		"no telemetry":                  `{"telemetry": {"otlpEndpoint": ""}}`,
		"no spreading":                  `{"topologySpread": {"keys": []}}`,
		"no Redis":                      `{"gateway": {"secrets": {"redisUrl": {"name": ""}}}, "tenants": {"secrets": {"redisUrl": {"name": ""}}}}`,
		"an ingress beside a HTTPRoute": `{"ingress": {"enabled": true, "className": "nginx", "hosts": ["api.example.com"]}}`,
		"given certificates":            `{"tls": {"source": "secrets"}}`,
		"images on a volume":            `{"catalog": {"images": {"url": "file:///var/lib/gifting/images", "existingClaim": "images"}}}`,
		"another name":                  `{"fullnameOverride": "gifts"}`,
		"a tag that is not a label":     `{"image": {"tag": "_0123456789012345678901234567890123456789012345678901234567890.-1"}}`,
		"brokers over IPv6":             `{"kafka": {"brokers": ["[2001:db8::1]:9092"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireNoProblems(t, changedValues(t, over))
		})
	}
}

// secrets have the right form: the chart only references them.
var secrets = map[string]string{
	"GIFTING_DATABASE_URL":    "postgres://db/one?sslmode=verify-full",
	"GIFTING_SEAL_KEYS":       "k1:" + strings.Repeat("A", 43) + "=",
	"GIFTING_EVENT_KEYS":      "k1:" + strings.Repeat("A", 43) + "=",
	"GIFTING_FINGERPRINT_KEY": strings.Repeat("A", 43) + "=",
	"GIFTING_REDIS_URL":       "rediss://redis:6380",
	"GIFTING_OUTBOX_SOURCES":  "orders=postgres://db/orders,links=postgres://db/links",

	"GIFTING_KAFKA_SASL_PASSWORD": "any",
}

func TestEveryProgramAcceptsItsEnvironment(t *testing.T) {
	t.Parallel()
	for _, set := range sets {
		objects, err := chart.Render(dir, read(t, set))
		require.NoError(t, err)
		environments := chart.Environments(objects)
		require.GreaterOrEqual(t, len(environments), len(programs.All()))
		for _, e := range environments {
			env := map[string]string{}
			for _, v := range e.Variables {
				env[v.Name] = v.Value
				if v.Secret {
					env[v.Name] = secrets[v.Name]
				}
			}
			require.NoError(t, programs.Named(identity.Name(e.Program)).Load(env), "%s %s", set, e.Owner)
		}
	}
}

func TestATelemetrySignalCanBeSwitchedOff(t *testing.T) {
	t.Parallel()
	const metrics, logs = "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"
	for switches, want := range map[string][]string{
		`{}`:                                nil,
		`{"metrics": false}`:                {metrics},
		`{"logs": false}`:                   {logs},
		`{"metrics": false, "logs": false}`: {metrics, logs},
	} {
		objects, err := chart.Render(dir, changedValues(t, `{"telemetry": `+switches+`}`))
		require.NoError(t, err)
		for _, e := range chart.Environments(objects) {
			var off []string
			for _, v := range e.Variables {
				if (v.Name == metrics || v.Name == logs) && v.Value == "none" {
					off = append(off, v.Name)
				}
			}
			if strings.HasPrefix(e.Owner, "Deployment ") {
				require.Equal(t, want, off, e.Owner)
			}
		}
	}
}
