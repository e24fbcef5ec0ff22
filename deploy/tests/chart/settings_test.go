//go:build manifests

package chart_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	core "k8s.io/api/core/v1"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/chart"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
)

// candidates are values of all types, right and wrong.
var candidates = []string{
	"abc", "LOUD", "debug", "INFO", "WARN+1", "90d", "90", "0", "1", "-1", "+8", "7.5", "1000001", "60000000", "true", "yes",
	"1s", "1h30m", "1.5h", ".5s", "5 s", "-1h", "100ms", "24h", "720h", "30000h", "10us",
	"foo", "10.0.0.1", "10.0.0.0/8", "10.0.0.0/99", "256.0.0.1", "::1", "2001:db8::/32", "2001:db8::/129",
	"10.0.0.0/8, ::1", "10.0.0.0/8,",
	"UTC", "Europe/Stockholm", "utc +1", "on", "off", "12345::", "::ffff", "1:2:3:4:5:6:7:8", "1::2::3", "fe80::/10",
	"Mon-Fri 08:00-18:00", "Mon-Fri 08:00-18:00; Sat 10:00-24:00", "Mon-Fri 18:00-08:00", "Mo-Fr 08:00-18:00", "8-18",
	"Mon 25:00-26:00", "Mon 08:00-18:00;",
	"720h ", "INFO\n", " true", "1 ", " 10.0.0.1 ", "3000000000",
}

// notCompared are settings whose values no template can check completely, and one that also depends on another.
var notCompared = []string{"GIFTING_OPENING_ZONE", "GIFTING_WEBHOOK_LEASE"}

var refusedSetting = regexp.MustCompile(`([a-zA-Z]+)\.settings\.(GIFTING_[A-Z_]+): `)

func TestTheChartRefusesTheSettingsThatTheProgramsRefuse(t *testing.T) {
	t.Parallel()
	objects, err := chart.Render(dir, read(t, "small"))
	require.NoError(t, err)
	environments := map[string]map[string]string{}
	for _, e := range chart.Environments(objects) {
		if strings.HasPrefix(e.Owner, "Deployment ") {
			environments[e.Program] = values(e)
		}
	}
	for _, candidate := range candidates {
		t.Run(candidate, func(t *testing.T) {
			t.Parallel()
			var wanted []string
			over := map[string]any{}
			for _, p := range programs.All() {
				own := map[string]any{}
				for _, variable := range accepted(p) {
					own[variable] = candidate
					if refuses(p, environments[string(p.Name)], variable, candidate) && !slices.Contains(notCompared, variable) {
						wanted = append(wanted, valuesOf(p)+" "+variable)
					}
				}
				over[valuesOf(p)] = map[string]any{"settings": own}
			}
			require.ElementsMatch(t, wanted, refused(t, over))
		})
	}
}

// accepted returns the settings of the program that are values of the chart.
func accepted(p programs.Program) []string {
	var all []string
	for variable, field := range p.Settings {
		isAddress := func(other programs.Program) bool { return variable == settings.Prefix+other.PeerSetting() }
		if !field.Secret && !slices.ContainsFunc(programs.All(), isAddress) && !slices.Contains(setByTheChart, variable) {
			all = append(all, variable)
		}
	}
	return all
}

// refuses reports whether the program refuses the value of the variable because of its own rules.
func refuses(p programs.Program, environment map[string]string, variable, value string) bool {
	env := map[string]string{}
	for name, text := range environment {
		env[name] = text
	}
	env[variable] = value
	errs, _ := errors.AsType[settings.VariableErrors](programs.Named(identity.Name(p.Name)).Load(env))
	return slices.ContainsFunc(errs, func(err error) bool {
		one, ok := errors.AsType[*settings.VariableError](err)
		return ok && one.Variable == variable
	})
}

// refused returns the programs and settings that the chart refuses.
func refused(t *testing.T, over map[string]any) []string {
	t.Helper()
	_, err := chart.Render(dir, chartutil.CoalesceTables(over, read(t, "small")))
	var found []string
	if err != nil {
		for _, match := range refusedSetting.FindAllStringSubmatch(err.Error(), -1) {
			if !slices.Contains(notCompared, match[2]) {
				found = append(found, match[1]+" "+match[2])
			}
		}
	}
	return found
}

// Kubernetes replaces $(NAME) by the value of a variable, and $$ by $.
func TestADollarOfASettingIsNotReplacedByKubernetes(t *testing.T) {
	t.Parallel()
	env := templates(render(t, `
publicUrl: https://api.example.com/$(HOME)/api/public/v1
kafka: {topic: x, sasl: {users: {events: "a$$b"}}}
orders: {settings: {GIFTING_OPERATOR_NAME: "$$ and $(GIFTING_GRPC_ADDR)"}}`))
	for owner, want := range map[string]core.EnvVar{
		"gifting-gateway": {Name: "GIFTING_PUBLIC_URL", Value: "https://api.example.com/$$(HOME)/api/public/v1"},
		"gifting-events":  {Name: "GIFTING_KAFKA_SASL_USER", Value: "a$$$$b"},
		"gifting-orders":  {Name: "GIFTING_OPERATOR_NAME", Value: "$$$$ and $$(GIFTING_GRPC_ADDR)"},
	} {
		require.Contains(t, env[owner].Spec.Containers[0].Env, want)
	}
}

func TestPortsOfPoliciesAreThoseOfTheAddresses(t *testing.T) {
	t.Parallel()
	s3 := func(query string) string { return `catalog: {images: {url: "s3://images?` + query + `"}}` }
	for name, tc := range map[string]struct {
		values, policy string
		ports          []int
	}{
		"brokers":                            {`kafka: {brokers: ["a:9093", "b:9093", "[::1]:9094"]}`, "events", []int{9093, 9094}},
		"the collector":                      {`telemetry: {otlpEndpoint: "http://collector:14317"}`, "events", []int{14317}},
		"S3 of the cloud":                    {`{}`, "catalog", []int{443}},
		"another S3":                         {s3("region=x&endpoint=https://storage:9000&use_path_style=true"), "catalog", []int{9000}},
		"another S3 with an escaped address": {s3("endpoint=http%3A%2F%2Fstorage%3A9001&region=x"), "catalog", []int{9001}},
		"another S3 without a port":          {s3("endpoint=http://storage&region=x"), "catalog", []int{80}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			open := ports(render(t, tc.values), "gifting-"+tc.policy)
			for _, port := range tc.ports {
				require.Contains(t, open, port)
			}
			require.NotContains(t, open, 9092)
		})
	}
	const withoutRedis = `
gateway: {secrets: {redisUrl: {name: ""}}}
tenants: {secrets: {redisUrl: {name: ""}}}
webhook: {secrets: {redisUrl: {name: ""}}}`
	require.NotContains(t, ports(render(t, withoutRedis), "gifting-gateway"), 6380)
}
