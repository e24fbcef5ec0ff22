//go:build manifests

package chart_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/programs"
)

// A row of a table of values: `value`, and its default where it has a column.
var row = regexp.MustCompile("(?m)^\\| `([A-Za-z<>.]+)` \\|(?: `([^`]*)` \\|)?")

func TestTheReadmeTellsEveryValueAndItsDefault(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	_, tables, found := strings.Cut(string(content), "\n## Values\n")
	require.True(t, found)
	told := map[string]string{}
	for _, match := range row.FindAllStringSubmatch(tables, -1) {
		told[match[1]] = match[2]
	}
	values, err := chartutil.ReadValuesFile(filepath.Join(dir, "values.yaml"))
	require.NoError(t, err)

	leaves := map[string]string{}
	collect(t, leaves, told, "", values)
	require.ElementsMatch(t, slices.Collect(maps.Keys(leaves)), slices.Collect(maps.Keys(told)))
	for path, value := range leaves {
		if !strings.HasPrefix(path, "<part>.") {
			require.JSONEq(t, value, told[path], path)
		}
	}
}

// collect gathers the values that a table has to tell: those it names as a whole, else what they are made of.
func collect(t *testing.T, into, told map[string]string, path string, value any) {
	t.Helper()
	inner, isTable := value.(map[string]any)
	if values, ok := value.(chartutil.Values); ok {
		inner, isTable = values, true
	}
	if _, named := told[path]; named || !isTable || len(inner) == 0 {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		into[path] = string(text)
		return
	}
	for name, one := range inner {
		if path == "" && slices.ContainsFunc(programs.All(), func(p programs.Program) bool { return part(p) == name }) {
			name = "<part>"
		}
		collect(t, into, told, strings.TrimPrefix(path+"."+name, "."), one)
	}
}
