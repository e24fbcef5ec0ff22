package grafana

import "strings"

// The units of Grafana that are used.
const (
	perSecond = "reqps"
	seconds   = "s"
	count     = "short"
	share     = "percentunit"
	bytes     = "bytes"
)

const (
	tag       = "gifting"
	fullWidth = 24
	graphH    = 8
	numberH   = 5
	rowH      = 1
	// schema is the version of the format, that of Grafana 11.
	schema = 39
)

// prometheus is the one that the dashboard's variable names.
func prometheus() *source { return &source{Type: "prometheus", UID: "${datasource}"} }

// query is an expression and what its lines are called.
type query struct{ expr, legend string }

// item is a panel before it has a place.
type item struct {
	panel Panel
	width int
}

// section is a row of a dashboard.
type section struct {
	title string
	items []item
}

// here selects the namespaces that the dashboard shows.
const here = `namespace=~"$namespace"`

// graph is a panel of lines over time.
func graph(title, about, unit string, queries ...query) item {
	zero := 0.0
	return item{width: fullWidth / 3, panel: Panel{
		Type: "timeseries", Title: title, Description: about, Targets: targets(unit, queries),
		FieldConfig: &fieldConfig{Overrides: []any{}, Defaults: fieldDefaults{
			Unit: unit, Min: &zero, Custom: map[string]any{"fillOpacity": 10, "showPoints": "never"},
		}},
		Options: map[string]any{
			"legend":  map[string]any{"displayMode": "table", "placement": "bottom", "calcs": []string{"lastNotNull", "max"}},
			"tooltip": map[string]any{"mode": "multi", "sort": "desc"},
		},
	}}
}

// number is a panel of the last value of each line, green up to or from a limit.
func number(title, about, unit string, steps []step, queries ...query) item {
	made := graph(title, about, unit, queries...)
	made.panel.Type = "stat"
	for i := range made.panel.Targets {
		made.panel.Targets[i].Instant, made.panel.Targets[i].Range = true, false
	}
	made.panel.FieldConfig.Defaults = fieldDefaults{Unit: unit, Thresholds: &thresholds{Mode: "absolute", Steps: steps}}
	made.panel.Options = map[string]any{
		"reduceOptions": map[string]any{"calcs": []string{"lastNotNull"}}, "textMode": "value_and_name", "colorMode": "background",
	}
	return made
}

// wide gives a panel more room.
func wide(i item, width int) item {
	i.width = width
	return i
}

func rising(red float64) []step  { return []step{{Color: "green"}, {Color: "red", Value: &red}} }
func falling(red float64) []step { return []step{{Color: "red"}, {Color: "green", Value: &red}} }
func plain() []step              { return []step{{Color: "blue"}} }

func targets(unit string, queries []query) []Target {
	var all []Target
	for i, q := range queries {
		all = append(all, Target{
			RefID: string(rune('A' + i)), Expr: q.expr, LegendFormat: q.legend, Range: true,
			Exemplar: unit == seconds && strings.Contains(q.expr, "_bucket"),
		})
	}
	return all
}

// dashboard places the sections below each other.
func dashboard(name, title, about string, variables []variable, sections ...section) Dashboard {
	d := Dashboard{
		UID: "gifting-" + name, Title: "Gifting / " + title, Description: about, Tags: []string{tag}, SchemaVersion: schema,
		GraphTooltip: 1, Refresh: "30s", Timezone: "utc", Time: span{From: "now-6h", To: "now"},
		Links:      []link{{Type: "dashboards", Title: "Gifting", Tags: []string{tag}, AsDropdown: true, IncludeVars: true, KeepTime: true}},
		Templating: templating{List: append(common(), variables...)},
	}
	y := 0
	for _, s := range sections {
		y = d.place(s, y)
	}
	return d
}

// place puts the items of a section into lines from y on and gives where the next may begin.
func (d *Dashboard) place(s section, y int) int {
	open := false
	d.add(Panel{Type: "row", Title: s.title, GridPos: place{H: rowH, W: fullWidth, Y: y}, Collapsed: &open})
	y += rowH
	x, line := 0, 0
	for _, i := range s.items {
		if x+i.width > fullWidth {
			x, y, line = 0, y+line, 0
		}
		height := graphH
		if i.panel.Type == "stat" {
			height = numberH
		}
		i.panel.GridPos, i.panel.Datasource = place{H: height, W: i.width, X: x, Y: y}, prometheus()
		d.add(i.panel)
		x, line = x+i.width, max(line, height)
	}
	return y + line
}

func (d *Dashboard) add(p Panel) {
	p.ID = len(d.Panels) + 1
	d.Panels = append(d.Panels, p)
}

// common are the variables of every dashboard.
func common() []variable {
	return []variable{
		{Name: "datasource", Label: "Prometheus", Type: "datasource", Query: "prometheus"},
		choice("namespace", "Namespace", `label_values(go_build_info{path=~"github.com/partnergifting/platform/.+"}, namespace)`, true),
	}
}

// choice is a variable whose values Prometheus knows.
func choice(name, label, query string, all bool) variable {
	const onTimeChange, byName = 2, 1
	v := variable{Name: name, Label: label, Type: "query", Query: query, Datasource: prometheus(), Refresh: onTimeChange, Sort: byName}
	if all {
		// Also where there is no such label.
		v.Multi, v.IncludeAll, v.AllValue = true, true, ".*"
		v.Current = &chosen{Text: "All", Value: "$__all"}
	}
	return v
}
