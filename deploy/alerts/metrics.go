package alerts

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed metrics.txt
var list string

// Metric is one that a running platform exposes.
type Metric struct {
	Name string
	// Type as the exposition names it: counter, gauge or histogram.
	Type   string
	Labels []string
}

// Metrics gives what rules, runbooks and dashboards may use, as metrics.txt lists it.
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

// Series gives the names under which a metric is stored, with the labels of each.
func (m Metric) Series() map[string][]string {
	if m.Type != "histogram" {
		return map[string][]string{m.Name: m.Labels}
	}
	return map[string][]string{
		m.Name + "_bucket": append(slices.Clone(m.Labels), "le"), m.Name + "_sum": m.Labels, m.Name + "_count": m.Labels,
	}
}
