//go:build manifests

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

	"github.com/partnergifting/platform/deploy/chart"
	"github.com/partnergifting/platform/deploy/programs"
)

func TestInvalidValuesAreRejected(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ values, path string }{
		"a value that does not exist":         {`{"replicas": 2}`, "replicas"},
		"a program that does not exist":       {`{"order": {"replicas": 2}}`, "order"},
		"a setting that does not exist":       {`{"orders": {"settings": {"GIFTING_OPENING_HOUR": "x"}}}`, "GIFTING_OPENING_HOUR"},
		"a setting of another program":        {`{"catalog": {"settings": {"GIFTING_OPENING_HOURS": "x"}}}`, "GIFTING_OPENING_HOURS"},
		"a secret as a setting":               {`{"orders": {"settings": {"GIFTING_SEAL_KEYS": "k:x"}}}`, "GIFTING_SEAL_KEYS"},
		"a secret in the place of a name":     {`{"orders": {"secrets": {"sealKeys": {"value": "k:x"}}}}`, "value"},
		"a secret without a name":             {`{"orders": {"secrets": {"databaseUrl": {"name": ""}}}}`, "name"},
		"a setting for development":           {`{"webhook": {"settings": {"GIFTING_ALLOW_LOOPBACK_WEBHOOKS": "true"}}}`, "GIFTING_ALLOW_LOOPBACK_WEBHOOKS"},
		"an environment that does not exist":  {`{"environment": "staging"}`, "environment"},
		"a number that is a text":             {`{"orders": {"replicas": "2"}}`, "replicas"},
		"an image that is not pinned":         {`{"image": {"tag": "latest"}}`, "tag"},
		"no issuer":                           {`{"tls": {"certManager": {"issuerRef": {"name": ""}}}}`, "name"},
		"no brokers":                          {`{"kafka": {"brokers": []}}`, "brokers"},
		"a lame duck that no program accepts": {`{"termination": {"lameDuckSeconds": 301}}`, "lameDuckSeconds"},
		"no address of the API":               {`{"publicUrl": ""}`, "publicUrl"},
		"an ingress without hosts":            {`{"ingress": {"enabled": true, "hosts": []}}`, "hosts"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := chart.Render(dir, changedValues(t, tc.values))
			require.ErrorContains(t, err, tc.path)
		})
	}
}

// setByTheChart are the settings that the chart sets from other values, and one for a single machine only.
var setByTheChart = []string{
	"GIFTING_GRPC_ADDR", "GIFTING_HTTP_ADDR", "GIFTING_METRICS_ADDR", "GIFTING_LAME_DUCK", "GIFTING_DRAIN_TIMEOUT",
	"GIFTING_TLS_CERT_FILE", "GIFTING_TLS_KEY_FILE", "GIFTING_TLS_CA_FILE", "GIFTING_TLS_TRUST_DOMAIN",
	"GIFTING_ENVIRONMENT", "GIFTING_PUBLIC_URL", "GIFTING_CLAIM_URL", "GIFTING_IMAGES_URL",
	"GIFTING_KAFKA_BROKERS", "GIFTING_KAFKA_CLIENT_ID", "GIFTING_KAFKA_TOPIC",
	"GIFTING_ALLOW_LOOPBACK_WEBHOOKS",
}

// part is the name of a program in values.yaml.
func part(p programs.Program) string {
	first, second, _ := strings.Cut(string(p.Name), "-")
	if second == "" {
		return first
	}
	return first + strings.ToUpper(second[:1]) + second[1:]
}

func TestTheSchemaHasEverySettingThatIsNotASecret(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile(filepath.Join(dir, "values.schema.json"))
	require.NoError(t, err)
	var schema struct {
		Properties map[string]struct {
			Properties struct {
				Settings struct {
					Properties map[string]any `json:"properties"`
				} `json:"settings"`
			} `json:"properties"`
		} `json:"properties"`
	}
	require.NoError(t, json.Unmarshal(content, &schema))
	excluded := slices.Clone(setByTheChart)
	for _, p := range programs.All() {
		excluded = append(excluded, "GIFTING_"+p.Peer())
	}
	for _, p := range programs.All() {
		var want []string
		for variable, field := range p.Settings {
			if !field.Secret && !slices.Contains(excluded, variable) {
				want = append(want, variable)
			}
		}
		got := slices.Collect(maps.Keys(schema.Properties[part(p)].Properties.Settings.Properties))
		require.ElementsMatch(t, want, got, p.Name)
	}
}
