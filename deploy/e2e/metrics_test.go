package e2e_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/alerts"
	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/programs"
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
		reported := func() []string {
			var works []string
			for _, match := range periodicWork.FindAllStringSubmatch(s.scrape(t, p, "text/plain"), -1) {
				works = append(works, match[1])
			}
			slices.Sort(works)
			return slices.Compact(works)
		}
		require.Eventually(t, func() bool { return slices.Equal(p.Periodic, reported()) }, harness.Slow, 50*time.Millisecond,
			"%s: the periodic work is %q", p.Name, reported())
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
