//go:build manifests

package chart_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	apps "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/partnergifting/platform/deploy/alerts"
	"github.com/partnergifting/platform/deploy/tests/chart"
	"github.com/partnergifting/platform/pkg/identity"
)

// example has manifests to apply beside the chart, and values that belong to them, over those of deploy/production. Some have only
// values.
type example struct {
	manifests []string
	values    map[string]any
}

func readExample(t *testing.T, name string) (e example) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "examples", name+".yaml"))
	if !os.IsNotExist(err) {
		require.NoError(t, err)
		e.manifests = strings.Split(string(text), "\n---\n")
	}
	e.values, err = chartutil.ReadValuesFile("../../production/values.yaml")
	require.NoError(t, err)
	if own, err := chartutil.ReadValuesFile(filepath.Join(dir, "examples", name+"-values.yaml")); !os.IsNotExist(err) {
		require.NoError(t, err)
		e.values = chartutil.MergeTables(own, e.values) // It does not drop a null, which removes a value of the chart.
	}
	return e
}

// examples are all of them, by their names.
func examples(t *testing.T) map[string]example {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "examples", "*.yaml"))
	require.NoError(t, err)
	all := map[string]example{}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".yaml"), "-values")
		all[name] = readExample(t, name)
	}
	require.NotEmpty(t, all)
	return all
}

// ofKind returns the objects of a kind by their names.
func (e example) ofKind(t *testing.T, kind string) map[string]map[string]any {
	t.Helper()
	found := map[string]map[string]any{}
	for _, manifest := range e.manifests {
		var object unstructured.Unstructured
		require.NoError(t, yaml.Unmarshal([]byte(manifest), &object.Object))
		if object.GetKind() == kind {
			found[object.GetName()] = object.Object
		}
	}
	require.NotEmpty(t, found, kind)
	return found
}

func (e example) render(t *testing.T) chart.Objects {
	t.Helper()
	objects, err := chart.Render(dir, e.values)
	require.NoError(t, err)
	return objects
}

// field returns what is at the path in an object.
func field[T any](t *testing.T, object map[string]any, path ...string) T {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(object, path...)
	require.NoError(t, err)
	require.True(t, found, path)
	require.IsType(t, *new(T), value)
	return value.(T)
}

func TestTheChartKeepsTheRulesWithTheValuesOfExamples(t *testing.T) {
	t.Parallel()
	for name, e := range examples(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.NoError(t, chart.Lint(dir, e.values))
			requireNoProblems(t, e.values)
		})
	}
}

func TestTheExampleOfExternalSecretsMakesTheSecretsThatTheChartReads(t *testing.T) {
	t.Parallel()
	e, read := readExample(t, "external-secrets"), map[string]bool{}
	variables, _ := references(e.render(t))
	for variable := range variables {
		name, _, _ := strings.Cut(variable, "/")
		read[name] = true
	}
	made := e.ofKind(t, "ExternalSecret")
	require.ElementsMatch(t, slices.Collect(maps.Keys(read)), slices.Collect(maps.Keys(made)))
	for name, object := range made {
		require.Contains(t, e.ofKind(t, "SecretStore"), field[string](t, object, "spec", "secretStoreRef", "name"))
		from := field[[]any](t, object, "spec", "dataFrom")
		require.Equal(t, []any{map[string]any{"extract": map[string]any{"key": "gifting/" + name}}}, from)
	}
}

func TestTheExampleOfCertManagerHasTheIssuerOfTheChartAndTheCallers(t *testing.T) {
	t.Parallel()
	e := readExample(t, "cert-manager")
	issuers, certificates := e.ofKind(t, "Issuer"), e.ofKind(t, "Certificate")
	reference := field[map[string]any](t, e.values, "tls", "certManager", "issuerRef")
	require.Equal(t, "Issuer", reference["kind"])
	issuer := reference["name"].(string)
	require.Contains(t, certificates, field[string](t, issuers[issuer], "spec", "ca", "secretName"))
	var uris, callers []any
	for name, certificate := range certificates {
		require.Contains(t, issuers, field[string](t, certificate, "spec", "issuerRef", "name"))
		if _, isAuthority, _ := unstructured.NestedBool(certificate, "spec", "isCA"); isAuthority {
			continue
		}
		require.Equal(t, issuer, field[string](t, certificate, "spec", "issuerRef", "name"), name)
		uris = append(uris, field[[]any](t, certificate, "spec", "uris")...)
	}
	for _, name := range identity.Names() {
		if !slices.Contains(identity.Programs(), name) {
			callers = append(callers, name.URI("partner-gifting"))
		}
	}
	require.ElementsMatch(t, callers, uris)
}

func TestTheExampleOfKEDAScalesDeploymentsWithoutANumberByMetricsThatExist(t *testing.T) {
	t.Parallel()
	e, scaled := readExample(t, "keda"), map[string]bool{}
	for _, object := range e.render(t) {
		if d, ok := object.(*apps.Deployment); ok && d.Spec.Replicas == nil {
			scaled[d.Name] = true
		}
	}
	targets := map[string]bool{}
	for _, object := range e.ofKind(t, "ScaledObject") {
		target := field[string](t, object, "spec", "scaleTargetRef", "name")
		targets[target] = true
		queries := 0
		for _, trigger := range field[[]any](t, object, "spec", "triggers") {
			if query, ok := field[map[string]any](t, trigger.(map[string]any), "metadata")["query"].(string); ok {
				queries++
				require.NoError(t, alerts.KnownNames(nil).Check(query))
				require.Contains(t, query, `service_name="`+strings.TrimPrefix(target, "gifting-")+`"`)
			}
		}
		require.Equal(t, 1, queries)
	}
	require.Equal(t, scaled, targets)
}
