//go:build manifests && apiserver

package chart_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// requireExamplesAccepted applies each example and the chart with its values. To show that a wrong field would be found, each object
// is also sent with a field that does not exist.
func requireExamplesAccepted(t *testing.T, server apiServer) {
	t.Helper()
	for name, e := range examples(t) {
		t.Run("example "+name, func(t *testing.T) {
			t.Parallel()
			n := server.namespace(t, "example-"+name, e.values)
			for _, manifest := range e.manifests {
				n.apply(t, manifest)
			}
			n.install(t, dir, e.values)
			n.requireNoProblems(t)
			for _, manifest := range e.manifests {
				n.apply(t, withUnknownField(t, manifest), metav1.DryRunAll)
				require.Contains(t, strings.Join(n.problems, "\n"), "unknownField", manifest)
				n.problems = nil
			}
		})
	}
	t.Run("triggers of KEDA have the parameters that it knows", func(t *testing.T) {
		t.Parallel()
		requireKnownParameters(t, readExample(t, "keda"))
	})
}

// withUnknownField adds a field to the spec of an object, or to the object if it has none.
func withUnknownField(t *testing.T, manifest string) string {
	t.Helper()
	var object map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(manifest), &object))
	into := object
	if spec, ok := object["spec"].(map[string]any); ok {
		into = spec
	}
	into["unknownField"] = "any"
	text, err := yaml.Marshal(object)
	require.NoError(t, err)
	return string(text)
}

// requireKnownParameters compares triggers with KEDA's own list: the definition of ScaledObject lets their metadata have any names.
func requireKnownParameters(t *testing.T, e example) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(downloaded(t, keda), "schema", "generated", "scalers-schema.json"))
	require.NoError(t, err)
	var list struct {
		Scalers []struct {
			Type       string
			Parameters []struct {
				Name, Default            string
				Optional                 bool
				MetadataVariableReadable bool
			}
		}
	}
	require.NoError(t, json.Unmarshal(text, &list))
	known, required := map[string][]string{}, map[string][]string{}
	for _, s := range list.Scalers {
		for _, p := range s.Parameters {
			if p.MetadataVariableReadable {
				known[s.Type] = append(known[s.Type], p.Name)
			}
			if !p.Optional && p.Default == "" {
				required[s.Type] = append(required[s.Type], p.Name)
			}
		}
	}
	for _, object := range e.ofKind(t, "ScaledObject") {
		for _, trigger := range field[[]any](t, object, "spec", "triggers") {
			one := trigger.(map[string]any)
			scaler, set := one["type"].(string), slices.Collect(maps.Keys(field[map[string]any](t, one, "metadata")))
			require.Subset(t, known[scaler], set)
			require.Subset(t, set, required[scaler])
		}
	}
}
