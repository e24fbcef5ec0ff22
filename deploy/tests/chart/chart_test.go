//go:build manifests

package chart_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/chart"
	"github.com/partnergifting/platform/pkg/identity"
)

const dir = "../../../helm/gifting"

func read(t *testing.T, set string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(filepath.Join(dir, "ci", set+"-values.yaml"))
	require.NoError(t, err)
	return values
}

var sets = []string{"small", "production", "airgapped", "every"}

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
	requireAccepted(t, objects)
}

// requireAccepted lets every program read its environment, as it does when it starts.
func requireAccepted(t *testing.T, objects chart.Objects) {
	t.Helper()
	for _, e := range chart.Environments(objects) {
		require.NoError(t, programs.Named(identity.Name(e.Program)).Load(values(e)), e.Owner)
	}
}

// values returns the variables of an environment, with secrets of the right form.
func values(e chart.Environment) map[string]string {
	env := map[string]string{}
	for _, v := range e.Variables {
		env[v.Name] = v.Value
		if v.Secret {
			env[v.Name] = secrets[v.Name]
		}
	}
	return env
}

// changedValues returns the lean values, overridden by those of the text.
func changedValues(t *testing.T, text string) map[string]any {
	t.Helper()
	var values map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(text), &values))
	return chartutil.MergeTables(values, lean(t)) // It does not drop a null, which removes a value of the chart.
}

// testdata reads a file of testdata.
func testdata[T any](t *testing.T, file string) (content T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &content))
	return content
}

func TestEverySwitchLeavesAChartThatKeepsTheRules(t *testing.T) {
	t.Parallel()
	for name, values := range testdata[map[string]map[string]any](t, "accepted.yaml") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireNoProblems(t, chartutil.CoalesceTables(values, lean(t)))
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
	"GIFTING_CELL_DATABASES":  "a=postgres://db/{database},b=postgres://other/{database}",
	"GIFTING_OUTBOX_SOURCES":  "orders=postgres://db/orders,links=postgres://db/links",

	"GIFTING_KAFKA_SASL_PASSWORD": "any",
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

func TestTheRulesKnowTheirEnvironmentEvenIfNothingOfItRuns(t *testing.T) {
	t.Parallel()
	objects, err := chart.Render(dir, read(t, "production"))
	require.NoError(t, err)
	var found []monitoring.Rule
	for _, object := range objects {
		if rules, ok := object.(*monitoring.PrometheusRule); ok {
			for _, group := range rules.Spec.Groups {
				for _, rule := range group.Rules {
					if rule.Record == "gifting:environment:programs" {
						found = append(found, rule)
					}
				}
			}
		}
	}
	require.Len(t, found, 1)
	require.Equal(t, fmt.Sprintf("vector(%d)", len(programs.All())), found[0].Expr.String())
	require.Equal(t, map[string]string{"namespace": chart.Release}, found[0].Labels)
}
