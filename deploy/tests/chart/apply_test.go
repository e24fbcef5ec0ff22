//go:build manifests && apiserver

package chart_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/programs"
)

// applied are the values to install: those of ci, and those of deploy/production.
func applied(t *testing.T) map[string]map[string]any {
	t.Helper()
	production, err := chartutil.ReadValuesFile("../../production/values.yaml")
	require.NoError(t, err)
	all := map[string]map[string]any{"from-zero": production}
	for _, set := range sets {
		all[set] = read(t, set)
	}
	return all
}

// TestAnAPIServerAcceptsTheChart is `make chart-apply`. A warning is a failure, too: of the pod security standards, of API
// versions that are deprecated, of fields and values that mean nothing.
func TestAnAPIServerAcceptsTheChart(t *testing.T) {
	t.Parallel()
	server := startChartServer(t)
	all := applied(t)
	for set, values := range all {
		t.Run("install "+set, func(t *testing.T) {
			t.Parallel()
			n := server.namespace(t, "install-"+set, values)
			n.install(t, dir, values)
			require.GreaterOrEqual(t, n.admitPods(t, dir, values), len(programs.All()))
			n.requireNoProblems(t)
			_, manifests := n.release(t, dir, values, false)
			for _, manifest := range manifests {
				first, again := n.apply(t, manifest.Content), n.apply(t, manifest.Content)
				require.Equal(t, first.GetResourceVersion(), again.GetResourceVersion(),
					"%s changes although its manifest does not", first.GetName())
			}
		})
	}
	for from, before := range all {
		for to, after := range all {
			if from == to {
				continue
			}
			t.Run("upgrade "+from+" to "+to, func(t *testing.T) {
				t.Parallel()
				n := server.namespace(t, from+"-to-"+to, before, after)
				// The names of all objects would be others, and nothing would be upgraded.
				n.install(t, dir, chartutil.CoalesceTables(map[string]any{"fullnameOverride": ""}, before))
				n.upgrade(t, dir, chartutil.CoalesceTables(map[string]any{"fullnameOverride": ""}, after))
				n.requireNoProblems(t)
			})
		}
	}
	requireExamplesAccepted(t, server)
	t.Run("mutations are found", func(t *testing.T) {
		t.Parallel()
		requireMutationsFound(t, server)
	})
}

// requireMutationsFound shows what only an API server finds: each of these charts renders.
func requireMutationsFound(t *testing.T, server apiServer) {
	t.Helper()
	for name, m := range mutations(t, "server") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := server.namespace(t, strings.ReplaceAll(name, " ", "-"), lean(t))
			n.install(t, dir, lean(t))
			n.requireNoProblems(t)
			n.upgrade(t, m.chart(t), lean(t))
			require.Contains(t, strings.Join(n.problems, "\n"), m.Problem)
		})
	}
}
