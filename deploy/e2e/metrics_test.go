package e2e_test

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/alerts"
	"github.com/partnergifting/platform/deploy/conformance/harness"
)

// The programs of a stack have ports that follow each other, and their metrics ten above.
const (
	programs    = 7
	metricsPort = 10
)

// testMetrics compares the list of metrics that rules, runbooks and dashboards use with what the programs expose.
func (s stack) testMetrics(t *testing.T) {
	exposed := map[string][]string{}
	for program := range programs {
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(strings.NewReader(s.scrape(t, program, "text/plain")))
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

// scrape reads the metrics of a program.
func (s stack) scrape(t *testing.T, program int, accept string) string {
	t.Helper()
	address := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(s.Config.PortBase+metricsPort+program)) + "/metrics"
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Accept", accept)
	return harness.Exchange(t, request).Body
}
