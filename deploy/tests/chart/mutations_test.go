//go:build manifests

package chart_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/tests/chart"
)

// mutation replaces a text of a template once.
type mutation struct{ File, Text, By, Problem string }

// mutations returns a group of the mutations, by name.
func mutations(t *testing.T, group string) map[string]mutation {
	t.Helper()
	found := testdata[map[string]map[string]mutation](t, "mutations.yaml")[group]
	require.NotEmpty(t, found)
	return found
}

// chart returns a copy of the chart with the mutation.
func (m mutation) chart(t *testing.T) string {
	t.Helper()
	copied := t.TempDir()
	require.NoError(t, os.CopyFS(copied, os.DirFS(dir)))
	path := filepath.Join(copied, "templates", m.File)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(content), m.Text)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(content), m.Text, m.By, 1)), 0o600))
	return copied
}

// lean returns the values of production without rules and dashboards, whose checks take long.
func lean(t *testing.T) map[string]any {
	t.Helper()
	without := map[string]any{"monitoring": map[string]any{
		"rules": map[string]any{"enabled": false}, "dashboards": map[string]any{"enabled": false},
	}}
	return chartutil.CoalesceTables(without, read(t, "production"))
}

// requireFound renders the chart with each mutation of the group: the rules report its problem.
func requireFound(t *testing.T, group, values string) {
	t.Helper()
	objects, err := chart.Render(dir, changedValues(t, values))
	require.NoError(t, err)
	pods := strconv.Itoa(len(chart.Environments(objects)))
	for name, m := range mutations(t, group) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := chart.Render(m.chart(t), changedValues(t, values))
			require.NoError(t, err)
			require.Contains(t, strings.Join(chart.Check(objects), "\n"), strings.ReplaceAll(m.Problem, "{all}", pods))
		})
	}
}

func TestMutationsOfTheChartAreFound(t *testing.T) {
	t.Parallel()
	requireFound(t, "rules", "{}")
}

// Authorities that a part of the platform does not trust would only be noticed in a cluster.
func TestMutationsOfTheAuthoritiesAreFound(t *testing.T) {
	t.Parallel()
	requireFound(t, "authorities", `authorities: {inline: "`+bundle+`"}`)
}

func TestSecretsInAConfigMapAreFound(t *testing.T) {
	t.Parallel()
	for name, secret := range map[string]string{
		"a database URL": "postgres://orders:hunter2@db.internal/orders",
		"a password":     "host=db password=hunter2",
		"a key":          "-----BEGIN EC PRIVATE KEY-----",
		"a seal key":     "k1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
		"an access key":  "AKIAIOSFODNN7EXAMPLE",
		"a bearer token": "authorization=Bearer abcdef0123456789",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			leaking := mutation{File: "services.yaml", Text: "---\n", By: `---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $name }}
data:
  note: "be careful: ` + secret + `"
---
`}
			objects, err := chart.Render(leaking.chart(t), lean(t))
			require.NoError(t, err)
			require.Contains(t, strings.Join(chart.Check(objects), "\n"), "ConfigMap orders holds a")
		})
	}
}

func TestObjectsThatKubernetesDoesNotKnowAreRejected(t *testing.T) {
	t.Parallel()
	for name, m := range mutations(t, "types") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := chart.Render(m.chart(t), lean(t))
			require.ErrorContains(t, err, m.Problem)
		})
	}
}
