package alerts

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed metrics.txt
var list string

// Metric is a metric that a running platform exposes.
type Metric struct {
	Name string
	// Type is counter, gauge or histogram.
	Type   string
	Labels []string
}

// Metrics returns the metrics of metrics.txt. Rules, runbooks and dashboards may use no others.
func Metrics() []Metric {
	var all []Metric
	for line := range strings.Lines(list) {
		words := strings.Fields(line)
		if len(words) < 2 || strings.HasPrefix(words[0], "#") {
			continue
		}
		all = append(all, Metric{Type: words[0], Name: words[1], Labels: words[2:]})
	}
	return all
}

// Series returns the series under which Prometheus stores the metric, with the labels of each.
func (m Metric) Series() map[string][]string {
	if m.Type != "histogram" {
		return map[string][]string{m.Name: m.Labels}
	}
	return map[string][]string{
		m.Name + "_bucket": append(slices.Clone(m.Labels), "le"), m.Name + "_sum": m.Labels, m.Name + "_count": m.Labels,
	}
}
