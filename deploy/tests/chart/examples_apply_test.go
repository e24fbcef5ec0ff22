//go:build manifests && apiserver

package chart_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireExamplesAccepted applies each example and the chart with its values.
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
		})
	}
	t.Run("triggers of KEDA have the parameters that it knows", func(t *testing.T) {
		t.Parallel()
		requireKnownParameters(t, readExample(t, "keda"))
	})
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
