//go:build manifests

package chart_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/chart"
	"github.com/partnergifting/platform/deploy/programs"
)

func TestInvalidValuesAreRejected(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ values, path string }{
		"a value that does not exist":         {`{"replicas": 2}`, "replicas"},
		"a program that does not exist":       {`{"order": {"replicas": 2}}`, "order"},
		"a whole program that does not exist": {`{"order": {"autoscaling": {"enabled": false, "min": 1, "max": 1, "cpuPercent": 1}, "resources": {"requests": {"cpu": "1m", "memory": "1Mi"}, "limits": {"memory": "1Mi"}}, "settings": {}, "secrets": {}}}`, "there is no program order"},
		"a secret of another program":         {`{"catalog": {"secrets": {"sealKeys": {"name": "x", "key": "x"}}}}`, "catalog has no secret sealKeys"},
		"images of another program":           {`{"orders": {"images": {"url": "s3://x"}}}`, "images"},
		"callers of the gateway":              {`{"gateway": {"callers": []}}`, "callers"},
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
		"a login without TLS":                 {`{"kafka": {"tls": {"enabled": false, "ca": {"name": ""}}}}`, "kafka.sasl needs kafka.tls.enabled"},
		"a login without a password":          {`{"webhook": {"secrets": {"kafkaPassword": {"name": ""}}}}`, "needs webhook.secrets.kafkaPassword.name"},
		"a login without a user":              {`{"kafka": {"sasl": {"users": {"events": ""}}}}`, "kafka.sasl.users.events"},
		"a password without a mechanism":      {`{"kafka": {"sasl": {"mechanism": ""}}}`, "events.secrets.kafkaPassword needs kafka.sasl.mechanism"},
		"a mechanism that does not exist":     {`{"kafka": {"sasl": {"mechanism": "GSSAPI"}}}`, "mechanism"},
		"authorities without TLS":             {`{"kafka": {"tls": {"enabled": false}, "sasl": {"mechanism": ""}}}`, "kafka.tls has other values but is not enabled"},
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

func TestValuesThatEveryProgramNeedsCannotBeRemoved(t *testing.T) {
	t.Parallel()
	for _, removed := range []map[string]any{
		{"webhook": nil},
		{"orders": map[string]any{"secrets": map[string]any{"sealKeys": nil}}},
	} {
		values := lean(t)
		maps.Copy(values, removed)
		_, err := chart.Render(dir, values)
		require.Error(t, err)
	}
}

// setByTheChart are the settings that the chart sets from other values, and one that is only for a single machine.
var setByTheChart = []string{
	"GIFTING_GRPC_ADDR", "GIFTING_HTTP_ADDR", "GIFTING_METRICS_ADDR", "GIFTING_LAME_DUCK", "GIFTING_DRAIN_TIMEOUT",
	"GIFTING_TLS_CERT_FILE", "GIFTING_TLS_KEY_FILE", "GIFTING_TLS_CA_FILE", "GIFTING_TLS_TRUST_DOMAIN",
	"GIFTING_ENVIRONMENT", "GIFTING_PUBLIC_URL", "GIFTING_CLAIM_URL", "GIFTING_IMAGES_URL",
	"GIFTING_KAFKA_BROKERS", "GIFTING_KAFKA_CLIENT_ID", "GIFTING_KAFKA_TOPIC",
	"GIFTING_KAFKA_TLS_ENABLED", "GIFTING_KAFKA_TLS_CA_FILE", "GIFTING_KAFKA_TLS_CERT_FILE", "GIFTING_KAFKA_TLS_KEY_FILE",
	"GIFTING_KAFKA_TLS_SERVER_NAME", "GIFTING_KAFKA_SASL_MECHANISM", "GIFTING_KAFKA_SASL_USER",
	"GIFTING_ALLOW_LOOPBACK_WEBHOOKS",
}

// valuesOf returns the name of a program in values.yaml.
func valuesOf(p programs.Program) string {
	first, second, _ := strings.Cut(string(p.Name), "-")
	if second == "" {
		return first
	}
	return first + strings.ToUpper(second[:1]) + second[1:]
}

func TestAProgramAcceptsItsSettingsThatAreNotSecretAndNoOthers(t *testing.T) {
	t.Parallel()
	excluded, everything := slices.Clone(setByTheChart), map[string]bool{}
	for _, p := range programs.All() {
		excluded = append(excluded, "GIFTING_"+p.Peer())
		for variable := range p.Settings {
			everything[variable] = true
		}
	}
	render := func(p programs.Program, settings map[string]any) error {
		own := map[string]any{valuesOf(p): map[string]any{"settings": maps.Clone(settings)}}
		_, err := chart.Render(dir, chartutil.CoalesceTables(own, read(t, "small")))
		return err
	}
	for _, p := range programs.All() {
		accepted, others := map[string]any{}, map[string]any{}
		for variable := range everything {
			field, known := p.Settings[variable]
			if known && !field.Secret && !slices.Contains(excluded, variable) {
				accepted[variable] = "1"
			} else {
				others[variable] = "1"
			}
		}
		require.NoError(t, render(p, accepted), p.Name)
		err := render(p, others)
		for variable := range others {
			require.ErrorContains(t, err, valuesOf(p)+" has no setting "+variable)
		}
	}
}
