//go:build manifests

package chart_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/programs"
)

// TestTheSetsOfValuesUseEveryValue shows that the tests render, and apply to an API server, all that the chart can make.
func TestTheSetsOfValuesUseEveryValue(t *testing.T) {
	t.Parallel()
	chartValues, err := chartutil.ReadValuesFile(filepath.Join(dir, "values.yaml"))
	require.NoError(t, err)
	defaults := leavesOf(t, chartValues)
	// These leave objects out.
	used := map[string]bool{"networkPolicy.enabled": true, "migrations.enabled": true}
	// An example has these: a further cell lacks most of what the sets show.
	used["cell"], used["tenantsAddr"] = true, true
	for _, set := range sets {
		for path, value := range leavesOf(t, read(t, set)) {
			for part := path; part != "" && value != defaults[path]; part = part[:max(0, strings.LastIndexByte(part, '.'))] {
				used[ofAnyProgram(part)] = true
			}
		}
	}
	for path := range defaults {
		require.True(t, used[ofAnyProgram(path)], "no set of values uses %s", path)
	}
	for name := range valuesOfAProgram(t) {
		require.True(t, used["<program>."+name], "no set of values uses %s of a program", name)
	}
}

// valuesOfAProgram returns the values that the schema lets a program have. Some of them are in no program of values.yaml.
func valuesOfAProgram(t *testing.T) map[string]any {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "values.schema.json"))
	require.NoError(t, err)
	var schema struct {
		Definitions struct {
			Component struct{ Properties map[string]any }
		}
	}
	require.NoError(t, json.Unmarshal(text, &schema))
	require.NotEmpty(t, schema.Definitions.Component.Properties)
	return schema.Definitions.Component.Properties
}

func leavesOf(t *testing.T, values map[string]any) map[string]string {
	t.Helper()
	leaves := map[string]string{}
	var collect func(path string, value any)
	collect = func(path string, value any) {
		if table, ok := value.(map[string]any); ok && len(table) > 0 {
			for name, inner := range table {
				collect(strings.TrimPrefix(path+"."+name, "."), inner)
			}
			return
		}
		text, err := json.Marshal(value)
		require.NoError(t, err)
		leaves[path] = string(text)
	}
	collect("", values)
	return leaves
}

// ofAnyProgram replaces the program in the path of a value.
func ofAnyProgram(path string) string {
	program, inner, _ := strings.Cut(path, ".")
	if slices.ContainsFunc(programs.All(), func(p programs.Program) bool { return valuesOf(p) == program }) {
		return "<program>." + inner
	}
	return path
}
