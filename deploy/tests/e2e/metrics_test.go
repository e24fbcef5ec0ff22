package e2e_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/alerts"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// testMetrics compares the list of metrics that rules, runbooks and dashboards use with what the programs expose.
func (s stack) testMetrics(t *testing.T) {
	exposed := map[string][]string{}
	for _, p := range programs.All() {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(s.scrape(t, p, "text/plain")))
		require.NoError(t, err)
		for name, family := range families {
			exposed[name] = append(exposed[name], strings.ToLower(family.GetType().String()))
			for _, metric := range family.GetMetric() {
				for _, label := range metric.GetLabel() {
					exposed[name] = append(exposed[name], label.GetName())
				}
			}
		}
	}
	listed := map[string]bool{}
	for _, m := range alerts.Metrics() {
		listed[m.Name] = true
		if slices.Contains(m.Labels, "cell") {
			continue // Only a platform with further cells has it.
		}
		require.Subset(t, exposed[m.Name], slices.Concat(m.Labels, []string{m.Type, "service_name"}), m.Name)
	}
	for name := range exposed {
		require.True(t, listed[name] || !strings.HasPrefix(name, "gifting_"), "%s is not listed", name)
	}
}

var periodicWork = regexp.MustCompile(`(?m)^gifting_periodic_runs_total\{[^}]*work="([^"]+)"`)

// testPeriodicWork compares the periodic work that each program reports with the list of programs.
func (s stack) testPeriodicWork(t *testing.T) {
	for _, p := range programs.All() {
		require.EventuallyWithT(t, func(c *assert.CollectT) {
			reported := map[string]bool{}
			for _, match := range periodicWork.FindAllStringSubmatch(s.scrape(t, p, "text/plain"), -1) {
				reported[match[1]] = true
			}
			require.ElementsMatch(c, p.Periodic, slices.Collect(maps.Keys(reported)), p.Name)
		}, harness.Slow, 50*time.Millisecond)
	}
}

// scrape reads the metrics of a program.
func (s stack) scrape(t *testing.T, p programs.Program, accept string) string {
	t.Helper()
	address := "http://" + s.addr(p.Port+programs.MetricsOffset) + "/metrics"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Accept", accept)
	return harness.Exchange(t, request).Body
}
