//go:build manifests

package chart_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/tests/chart"
)

func TestInvalidValuesAreRefused(t *testing.T) {
	t.Parallel()
	for message, tests := range testdata[map[string]map[string]map[string]any](t, "refused.yaml") {
		for name, values := range tests {
			t.Run(message+" "+name, func(t *testing.T) {
				t.Parallel()
				_, err := chart.Render(dir, chartutil.CoalesceTables(values, lean(t)))
				require.ErrorContains(t, err, message)
			})
		}
	}
}

func TestAPrefixHasNoBitsBehindItsLength(t *testing.T) {
	t.Parallel()
	const values = `networkPolicy: {postgresql: {to: [{ipBlock: {cidr: 10.0.0.0/8}}, {ipBlock: {cidr: "%s"}}]}}`
	for cidr, network := range map[string]bool{
		"10.0.0.1/8": false, "10.1.0.0/15": false, "10.2.0.0/15": true, "10.0.0.129/25": false, "10.0.0.128/25": true,
		"10.0.0.1/32": true, "1.0.0.0/0": false, "0.0.0.0/0": true,
		"2001:db8::1/64": false, "2001:db8::/64": true, "2001:db8:0:8000::/49": true, "2001:db8:0:8000::/48": false,
		"::1/127": false, "::1/128": true, "8000::/1": true, "::/0": true, "fe80::/8": false, "fe80::/9": true,
		"1:2:3:4:5:6:7:ff00/120": true,
	} {
		t.Run(cidr, func(t *testing.T) {
			t.Parallel()
			_, err := chart.Render(dir, changedValues(t, fmt.Sprintf(values, cidr)))
			if network {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, "networkPolicy.postgresql: the cidr "+cidr+" has bits behind its prefix")
			}
		})
	}
}

// validate checks the values against the schema only.
func validate(t *testing.T, values map[string]any) error {
	t.Helper()
	loaded, err := loader.LoadDir(dir)
	require.NoError(t, err)
	return chartutil.ValidateAgainstSchema(loaded, values)
}

// filled returns the values with another in place of each that has another type, and adds their paths to places.
func filled(path string, value, by any, places *[]string) any {
	inner, ok := value.(map[string]any)
	if !ok {
		if kind(value) != kind(by) {
			*places = append(*places, path)
			return by
		}
		return value
	}
	all := map[string]any{}
	for key, one := range inner {
		all[key] = filled(path+"/"+key, one, by, places)
	}
	return all
}

// kind is the type of a value in JSON.
func kind(value any) string {
	switch value.(type) {
	case string:
		return "text"
	case bool:
		return "switch"
	case []any:
		return "list"
	case map[string]any:
		return "map"
	default:
		return "number"
	}
}

func defaults(t *testing.T) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(filepath.Join(dir, "values.yaml"))
	require.NoError(t, err)
	return values
}

func TestValuesOfAnotherTypeAreRejectedAtEveryLevel(t *testing.T) {
	t.Parallel()
	for _, other := range []any{7.5, true, "a text", []any{7}, map[string]any{"a": 7}} {
		t.Run(kind(other), func(t *testing.T) {
			t.Parallel()
			var places []string
			err := validate(t, filled("", defaults(t), other, &places).(map[string]any)) //nolint:forcetypeassert // It stays a map.
			require.Error(t, err)
			require.Greater(t, len(places), 50)
			for _, place := range places {
				require.Contains(t, err.Error(), "'"+place, place)
			}
		})
	}
}

func TestMistypedNamesAreRejectedAtEveryLevel(t *testing.T) {
	t.Parallel()
	levels := 0
	var misspell func(path string, values map[string]any)
	values, mistyped := defaults(t), map[string][]string{}
	misspell = func(path string, values map[string]any) {
		for key, value := range values {
			if inner, ok := value.(map[string]any); ok {
				misspell(path+"/"+key, inner)
			}
		}
		levels++
		values["mistyped"] = 7
		mistyped[path] = nil
	}
	misspell("", values)
	err := validate(t, values)
	require.Greater(t, levels, 50)
	for path := range mistyped {
		named := []string{"at '" + path + "': additional properties 'mistyped'", "'" + path + "/mistyped'"}
		in := func(part string) bool { return strings.Contains(err.Error(), part) }
		require.True(t, slices.ContainsFunc(named, in), "%s: %v", path, err)
	}
}

func TestTheLinterOfHelmNamesTheValuesThatAreMissing(t *testing.T) {
	t.Parallel()
	err := chart.Lint(dir, nil)
	for _, missing := range []string{
		"environment", "publicUrl", "claimUrl", "kafka/brokers", "catalog/images/url", "tls/certManager/issuerRef/name",
	} {
		require.ErrorContains(t, err, "at '/"+missing+"'")
	}
}
