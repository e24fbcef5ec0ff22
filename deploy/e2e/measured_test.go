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
)

// The parts of a stack have ports that follow each other, and their metrics ten above.
const (
	parts       = 7
	metricsPort = 10
)

// testMeasured holds the list of metrics that rules, runbooks and dashboards use against what the parts expose.
func (p *platform) testMeasured(t *testing.T) {
	p.ownStack(t, "its metrics")
	exposed := map[string][]string{}
	for part := range parts {
		p.scrape(t, part, exposed)
	}
	listed := map[string]bool{}
	for _, m := range alerts.Metrics() {
		listed[m.Name] = true
		require.Subset(t, exposed[m.Name], append(m.Labels, m.Type, "service_name"), m.Name)
	}
	for name := range exposed {
		require.True(t, listed[name] || !strings.HasPrefix(name, "gifting_"), "%s is not listed", name)
	}
}

// scrape adds the names of what a part exposes, with type and labels of each.
func (p *platform) scrape(t *testing.T, part int, into map[string][]string) {
	t.Helper()
	url := "http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(p.config.PortBase+metricsPort+part)) + "/metrics"
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(exchange(t, req).body))
	require.NoError(t, err)
	for name, family := range families {
		into[name] = append(into[name], strings.ToLower(family.GetType().String()))
		for _, metric := range family.GetMetric() {
			for _, label := range metric.GetLabel() {
				if !slices.Contains(into[name], label.GetName()) {
					into[name] = append(into[name], label.GetName())
				}
			}
		}
	}
}
