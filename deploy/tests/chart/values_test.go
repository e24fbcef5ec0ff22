//go:build manifests

package chart_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/chart"
)

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
	"GIFTING_CELL", "GIFTING_ENVIRONMENT", "GIFTING_PUBLIC_URL", "GIFTING_CLAIM_URL", "GIFTING_IMAGES_URL",
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
		excluded = append(excluded, "GIFTING_"+p.PeerSetting())
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
				accepted[variable] = field.Default
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
