//go:build manifests

package chart_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/chart"
)

const dir = "../../helm/gifting"

func read(t *testing.T, set string) map[string]any {
	t.Helper()
	values, err := chartutil.ReadValuesFile(filepath.Join(dir, "ci", set+"-values.yaml"))
	require.NoError(t, err)
	return values
}

var sets = []string{"small", "production", "airgapped"}

func TestHelmHasNothingToSayOfTheChart(t *testing.T) {
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			require.NoError(t, chart.Lint(dir, read(t, set)))
		})
	}
}

func TestWhatIsRenderedIsStrictlyValidAndKeepsTheRules(t *testing.T) {
	for _, set := range sets {
		t.Run(set, func(t *testing.T) {
			objects, err := chart.Render(dir, read(t, set))
			require.NoError(t, err)
			faults, err := chart.Check(objects)
			require.NoError(t, err)
			require.Empty(t, faults, strings.Join(faults, "\n"))
		})
	}
}

func TestEverySwitchLeavesAChartThatKeepsTheRules(t *testing.T) {
	for name, over := range map[string]string{
		"no network policies":           `{"networkPolicy": {"enabled": false}}`,
		"no budgets":                    `{"podDisruptionBudget": {"enabled": false}}`,
		"no migrations":                 `{"migrations": {"enabled": false}}`,
		"no telemetry":                  `{"telemetry": {"otlpEndpoint": ""}}`,
		"no spreading":                  `{"topologySpread": {"keys": []}}`,
		"no Redis":                      `{"gateway": {"secrets": {"redisUrl": {"name": ""}}}, "tenants": {"secrets": {"redisUrl": {"name": ""}}}}`,
		"an ingress beside a HTTPRoute": `{"ingress": {"enabled": true, "className": "nginx", "hosts": ["api.example.com"]}}`,
		"given certificates":            `{"tls": {"source": "secrets"}}`,
		"images on a volume":            `{"catalog": {"images": {"url": "file:///var/lib/gifting/images", "existingClaim": "images"}}}`,
		"another name":                  `{"fullnameOverride": "gifts"}`,
		"a tag that is no label":        `{"image": {"tag": "_0123456789012345678901234567890123456789012345678901234567890.-1"}}`,
		"brokers over IPv6":             `{"kafka": {"brokers": ["[2001:db8::1]:9092"]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var values map[string]any
			require.NoError(t, json.Unmarshal([]byte(over), &values))
			objects, err := chart.Render(dir, chartutil.CoalesceTables(values, lean(t)))
			require.NoError(t, err)
			faults, err := chart.Check(objects)
			require.NoError(t, err)
			require.Empty(t, faults, strings.Join(faults, "\n"))
		})
	}
}
