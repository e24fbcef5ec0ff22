package alerts_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/alerts"
)

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
