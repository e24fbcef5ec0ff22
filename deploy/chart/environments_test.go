//go:build manifests

package chart_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/chart"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
)

// given are secrets of the right form: the chart only names where they are.
var given = map[string]string{
	"GIFTING_DATABASE_URL":    "postgres://db/one?sslmode=verify-full",
	"GIFTING_SEAL_KEYS":       "k1:" + strings.Repeat("A", 43) + "=",
	"GIFTING_FINGERPRINT_KEY": strings.Repeat("A", 43) + "=",
	"GIFTING_REDIS_URL":       "rediss://redis:6380",
	"GIFTING_OUTBOX_SOURCES":  "orders=postgres://db/orders,links=postgres://db/links",
}

func TestASignalThatIsSwitchedOffDoesNotLeave(t *testing.T) {
	const metrics, logs = "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"
	for name, want := range map[string][]string{
		`{}`:                                nil,
		`{"metrics": false}`:                {metrics},
		`{"logs": false}`:                   {logs},
		`{"metrics": false, "logs": false}`: {metrics, logs},
	} {
		t.Run(name, func(t *testing.T) {
			var switches map[string]any
			require.NoError(t, json.Unmarshal([]byte(name), &switches))
			objects, err := chart.Render(dir, chartutil.CoalesceTables(map[string]any{"telemetry": switches}, lean(t)))
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
		})
	}
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
					env[v.Name] = given[v.Name]
				}
			}
			require.NoError(t, programs.Named(identity.Name(e.Program)).Load(env), "%s %s", set, e.Owner)
		}
	}
}
