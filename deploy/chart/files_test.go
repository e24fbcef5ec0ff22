//go:build manifests

package chart_test

import (
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A chart can only read files of its own, so it has copies of the rules and dashboards.
func TestTheChartCarriesTheRulesAndDashboards(t *testing.T) {
	for folder, source := range map[string]string{"alerts": "../alerts/*.yaml", "dashboards": "../grafana/*.json"} {
		t.Run(folder, func(t *testing.T) {
			sources, copies := contents(t, source), contents(t, filepath.Join(dir, "files", folder, "*"))
			require.NotEmpty(t, copies)
			// Not Equal, which would show them whole.
			require.True(t, maps.Equal(sources, copies), "the copies are old: run make chart-files")
		})
	}
}

func contents(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	files := map[string]string{}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		files[filepath.Base(path)] = string(content)
	}
	return files
}
