//go:build manifests

package chart_test

import (
	"encoding/json"
	"fmt"
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

// row is a row of a table of values: `value`, and its default if there is a column for it.
var row = regexp.MustCompile("(?m)^\\| `([A-Za-z<>.]+)` \\|(?: `([^`]*)` \\|)?")

func TestTheReadmeListsEveryValueWithItsDefault(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	_, tables, found := strings.Cut(string(content), "\n## Values\n")
	require.True(t, found)
	listed := map[string]string{}
	for _, match := range row.FindAllStringSubmatch(tables, -1) {
		listed[match[1]] = match[2]
	}
	values, err := chartutil.ReadValuesFile(filepath.Join(dir, "values.yaml"))
	require.NoError(t, err)

	leaves := map[string]string{}
	collect(t, leaves, listed, "", values)
	require.ElementsMatch(t, slices.Collect(maps.Keys(leaves)), slices.Collect(maps.Keys(listed)))
	for path, value := range leaves {
		if !strings.HasPrefix(path, "<program>.") {
			require.JSONEq(t, value, listed[path], path)
		}
	}
}

// Helm rolls back to what an earlier revision rendered. With an autoscaler that may have no number of instances, which Kubernetes
// takes for 1. An upgrade to the version before keeps the number that the cluster has.
func TestNoPageRollsBackWithHelm(t *testing.T) {
	t.Parallel()
	root := filepath.Join(dir, "..", "..")
	pages := []string{filepath.Join(root, ".github", "UPGRADING.md"), filepath.Join(root, "deploy", "production", "README.md")}
	runbooks, err := filepath.Glob(filepath.Join(root, "deploy", "runbooks", "*.md"))
	require.NoError(t, err)
	require.NotEmpty(t, runbooks)
	for _, page := range append(pages, runbooks...) {
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		text := strings.ReplaceAll(string(content), "Do not use `helm rollback`", "")
		require.NotContains(t, text, "helm rollback", page)
	}
}

// collect collects the values that the tables must list: a value that is listed as a whole, otherwise its members.
func collect(t *testing.T, into, listed map[string]string, path string, value any) {
	t.Helper()
	inner, isTable := value.(map[string]any)
	if values, ok := value.(chartutil.Values); ok {
		inner, isTable = values, true
	}
	if _, named := listed[path]; named || !isTable || len(inner) == 0 {
		text, err := json.Marshal(value)
		require.NoError(t, err)
		into[path] = string(text)
		return
	}
	for name, one := range inner {
		if path == "" && slices.ContainsFunc(programs.All(), func(p programs.Program) bool { return valuesOf(p) == name }) {
			name = "<program>"
		}
		collect(t, into, listed, strings.TrimPrefix(path+"."+name, "."), one)
	}
}

// TestTheReadmeDeletesWhatHooksLeave compares the command of the README with the hooks, which helm does not delete with a release.
func TestTheReadmeDeletesWhatHooksLeave(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile(filepath.Join(dir, "README.md"))
	require.NoError(t, err)
	command := regexp.MustCompile(`kubectl delete (\S+) -l (\S+)=(\S+)\n`).FindStringSubmatch(string(readme))
	require.NotNil(t, command)
	kinds, label, value := strings.Split(command[1], ","), command[2], command[3]
	left := map[string]bool{}
	for _, object := range render(t, `{environment: sandbox, test: {apiKey: {name: key}}, authorities: {inline: "`+bundle+`"}}`) {
		if object.GetAnnotations()["helm.sh/hook"] == "" {
			continue
		}
		kind := fmt.Sprintf("%T", object)
		kind = strings.ToLower(kind[strings.LastIndexByte(kind, '.')+1:])
		left[kind] = true
		require.Contains(t, kinds, kind, object.GetName())
		require.Equal(t, value, object.GetLabels()[label], object.GetName())
	}
	require.Len(t, left, len(kinds))
}
