package alerts_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/deploy/alerts"
	"github.com/partnergifting/platform/deploy/programs"
)

const (
	root     = "../.."
	runbooks = "../runbooks"
)

func rules(t *testing.T) []alerts.Rule {
	t.Helper()
	all, err := alerts.Rules(root)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

func TestEveryAlertHasItsSectionAndEverySectionItsAlert(t *testing.T) {
	t.Parallel()
	named := map[string]bool{}
	for _, r := range rules(t) {
		if r.Alert == "" {
			continue
		}
		named[r.Alert] = true
		path, found := strings.CutPrefix(r.Annotations["runbook_url"], "deploy/runbooks/")
		require.True(t, found, r.Alert)
		page, anchor, _ := strings.Cut(path, "#")
		require.Equal(t, strings.ToLower(r.Alert), anchor, r.Alert)
		text, err := os.ReadFile(filepath.Join(runbooks, page))
		require.NoError(t, err, r.Alert)
		_, section, found := strings.Cut(string(text), "\n## "+r.Alert+"\n")
		require.True(t, found, "%s has no section %s", page, r.Alert)
		section, _, _ = strings.Cut(section, "\n## ")
		for _, heading := range []string{"Impact", "Diagnosis", "Mitigation", "Resolution"} {
			require.Contains(t, section, "\n### "+heading+"\n", r.Alert)
		}
		require.NotEmpty(t, alerts.BlockLines(section, "promql"), "%s needs a query for its diagnosis", r.Alert)
	}
	eachRunbook(t, func(t *testing.T, text string) {
		for _, heading := range regexp.MustCompile(`(?m)^#+ (Gifting.*)$`).FindAllStringSubmatch(text, -1) {
			require.True(t, named[heading[1]], "a section without an alert: %s", heading[1])
		}
	})
}

func TestTheIndexHasEveryRunbook(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile(runbooks + "/README.md")
	require.NoError(t, err)
	for _, path := range pages(t) {
		require.Contains(t, string(index), "("+path+")")
	}
}

func TestEveryAlertHasASeverityAndADescription(t *testing.T) {
	t.Parallel()
	for _, r := range rules(t) {
		if r.Alert == "" {
			require.NotEmpty(t, r.Record)
			continue
		}
		require.True(t, strings.HasPrefix(r.Alert, "Gifting"), r.Alert)
		require.Contains(t, []string{"page", "ticket"}, r.Labels["severity"], r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		require.NotEmpty(t, r.Annotations["description"], r.Alert)
	}
}

func TestRulesUseKnownMetrics(t *testing.T) {
	t.Parallel()
	names := alerts.KnownNames(rules(t))
	for _, r := range rules(t) {
		require.NoError(t, names.Check(r.Expr), r.Alert+r.Record)
	}
	require.ErrorContains(t, names.Check(`rate(gifting_relay_publisht_total[5m])`), "gifting_relay_publisht_total")
	require.ErrorContains(t, names.Check(`gifting_relay_oldest_age_seconds{sauce="orders"}`), "sauce")
	require.ErrorContains(t, names.Check(`sum by (sauce) (gifting_relay_oldest_age_seconds)`), "sauce")
}

func TestEveryAlertHasATestThatItFiresAndOneThatItDoesNot(t *testing.T) {
	t.Parallel()
	fires, silent := map[string]bool{}, map[string]bool{}
	paths, err := filepath.Glob("tests/*.yaml")
	require.NoError(t, err)
	for _, path := range paths {
		for _, c := range cases(t, path) {
			for _, expected := range c.Expected {
				fires[c.Alert+" "+expected.Labels["severity"]] = true
			}
			silent[c.Alert] = silent[c.Alert] || len(c.Expected) == 0
		}
	}
	for _, r := range rules(t) {
		if r.Alert != "" {
			require.True(t, fires[r.Alert+" "+r.Labels["severity"]], "%s never fires as %s", r.Alert, r.Labels["severity"])
			require.True(t, silent[r.Alert], "%s always fires", r.Alert)
		}
	}
}

// A program that is forgotten here could end unnoticed.
func TestTheEndOfEveryProgramIsTested(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("tests/missing.yaml")
	require.NoError(t, err)
	for _, p := range programs.All() {
		require.Contains(t, string(text), "  - name: no instance of "+string(p.Name)+"\n")
	}
}

type alertCase struct {
	Alert    string `yaml:"alertname"`
	Expected []struct {
		Labels map[string]string `yaml:"exp_labels"`
	} `yaml:"exp_alerts"`
}

func cases(t *testing.T, path string) []alertCase {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var file struct {
		Tests []struct {
			Cases []alertCase `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	require.NoError(t, yaml.Unmarshal(text, &file), path)
	var all []alertCase
	for _, test := range file.Tests {
		all = slices.Concat(all, test.Cases)
	}
	return all
}

var (
	legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)
	grouping    = regexp.MustCompile(`by \(([^)]*)\)`)
)

func TestDashboardsUseKnownMetricsAndLegendsUseGroupedLabels(t *testing.T) {
	t.Parallel()
	names := alerts.KnownNames(rules(t))
	names["ALERTS"] = []string{"alertname", "alertstate", "severity", "namespace"}
	dashboards, err := alerts.Dashboards(root)
	require.NoError(t, err)
	require.NotEmpty(t, dashboards)
	for _, d := range dashboards {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				require.NoError(t, names.Check(alerts.Interpolate(target.Expr)), "%s: %s", d.Title, p.Title)
				grouped := grouping.FindStringSubmatch(target.Expr)
				for _, label := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
					if grouped != nil {
						require.Contains(t, grouped[1], label[1], "%s: %s", d.Title, p.Title)
					}
				}
			}
		}
	}
}

func TestPanelsHaveQueriesAndDoNotOverlap(t *testing.T) {
	t.Parallel()
	dashboards, err := alerts.Dashboards(root)
	require.NoError(t, err)
	uids := map[string]bool{}
	for _, d := range dashboards {
		require.False(t, uids[d.UID], d.UID)
		uids[d.UID] = true
		taken := map[[2]int]string{}
		for i, p := range d.Panels {
			require.Equal(t, i+1, p.ID)
			require.NotEmpty(t, p.Title)
			require.Equal(t, p.Type != "row", len(p.Targets) > 0, "%s: %s", d.Title, p.Title)
			require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, "%s: %s", d.Title, p.Title)
			for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
				for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
					require.Empty(t, taken[[2]int{x, y}], "%s: %s", d.Title, p.Title)
					taken[[2]int{x, y}] = p.Title
				}
			}
		}
	}
}
