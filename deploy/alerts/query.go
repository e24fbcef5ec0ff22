package alerts

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/VictoriaMetrics/metricsql"
)

// targetLabels are the labels that every series of the platform has.
var targetLabels = []string{"namespace", "job", "instance", "pod", "service_name"}

var (
	errUnknownMetric = errors.New("no such metric")
	errUnknownLabel  = errors.New("no such label")
)

// Names are the series a query may use, with the labels of each.
type Names map[string][]string

// KnownNames are the series of a running platform and those that the rules record.
func KnownNames(rules []Rule) Names {
	names := Names{}
	for _, m := range Metrics() {
		for series, labels := range m.Series() {
			names[series] = slices.Concat(labels, targetLabels)
		}
	}
	for _, r := range rules {
		if r.Record != "" {
			names[r.Record] = []string{"namespace", "slo"}
		}
	}
	return names
}

// Check rejects a query that does not parse, or that uses an unknown series or a label that none of its series has.
func (n Names) Check(query string) error {
	expr, err := metricsql.Parse(query)
	if err != nil {
		return fmt.Errorf("%w in %q", err, query)
	}
	var (
		errs             []error
		labels, grouping []string
	)
	metricsql.VisitAll(expr, func(e metricsql.Expr) {
		switch e := e.(type) {
		case *metricsql.MetricExpr:
			found, err := n.series(e)
			labels, errs = append(labels, found...), append(errs, err)
		case *metricsql.AggrFuncExpr:
			grouping = append(grouping, e.Modifier.Args...)
		case *metricsql.BinaryOpExpr:
			grouping = slices.Concat(grouping, e.GroupModifier.Args, e.JoinModifier.Args)
		}
	})
	for _, label := range grouping {
		if !slices.Contains(labels, label) {
			errs = append(errs, fmt.Errorf("%w: %s", errUnknownLabel, label))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w in %q", err, query)
	}
	return nil
}

// series returns the labels of the series that e selects.
func (n Names) series(e *metricsql.MetricExpr) ([]string, error) {
	var all []string
	for _, filters := range e.LabelFilterss {
		name, labels := "", []string(nil)
		for _, f := range filters {
			if f.Label == "__name__" {
				name = f.Value
				continue
			}
			labels = append(labels, f.Label)
		}
		known, found := n[name]
		if !found {
			return nil, fmt.Errorf("%w: %s", errUnknownMetric, name)
		}
		for _, label := range labels {
			if !slices.Contains(known, label) {
				return nil, fmt.Errorf("%w: %s{%s}", errUnknownLabel, name, label)
			}
		}
		all = append(all, known...)
	}
	return all, nil
}

// Interpolate replaces the variables of a dashboard's query as Grafana would.
func Interpolate(query string) string {
	return strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h").Replace(query)
}

//go:embed metrics.txt
var metricsText string

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
	for line := range strings.Lines(metricsText) {
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
