package grafana_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/alerts"
	"github.com/partnergifting/platform/deploy/grafana"
)

func TestTheFilesAreWhatIsMade(t *testing.T) {
	want := []string{}
	for _, d := range grafana.All() {
		made, err := d.JSON()
		require.NoError(t, err)
		stands, err := os.ReadFile(d.File())
		require.NoError(t, err)
		require.Equal(t, string(made), string(stands), "%s: run `make dashboards`", d.File())
		want = append(want, d.File())
	}
	files, err := filepath.Glob("*.json")
	require.NoError(t, err)
	require.ElementsMatch(t, want, files)
}

func TestQueriesUseWhatThePlatformMeasures(t *testing.T) {
	names, err := alerts.AllNames()
	require.NoError(t, err)
	names["ALERTS"] = []string{"alertname", "alertstate", "severity", "namespace"}
	for _, d := range grafana.All() {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				require.NoError(t, names.Check(alerts.Inside(target.Expr)), "%s: %s", d.Title, p.Title)
			}
		}
	}
}

// A legend that names a label which its query does not give would be empty.
func TestLegendsNameLabelsOfTheirQuery(t *testing.T) {
	label := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, d := range grafana.All() {
		for _, p := range d.Panels {
			for _, target := range p.Targets {
				grouped := regexp.MustCompile(`by \(([^)]*)\)`).FindStringSubmatch(target.Expr)
				for _, named := range label.FindAllStringSubmatch(target.LegendFormat, -1) {
					if grouped != nil {
						require.Contains(t, grouped[1], named[1], "%s: %s", d.Title, p.Title)
					}
				}
			}
		}
	}
}

func TestDashboardsAreComplete(t *testing.T) {
	uids := map[string]bool{}
	for _, d := range grafana.All() {
		require.False(t, uids[d.UID], d.UID)
		uids[d.UID] = true
		for i, p := range d.Panels {
			require.Equal(t, i+1, p.ID)
			require.NotEmpty(t, p.Title)
			require.Equal(t, p.Type != "row", len(p.Targets) > 0, "%s: %s", d.Title, p.Title)
			require.LessOrEqual(t, p.GridPos.X+p.GridPos.W, 24, "%s: %s", d.Title, p.Title)
			for _, other := range d.Panels[:i] {
				require.False(t, overlap(p, other), "%s: %s and %s", d.Title, p.Title, other.Title)
			}
		}
	}
}

func overlap(a, b grafana.Panel) bool {
	p, q := a.GridPos, b.GridPos
	return p.X < q.X+q.W && q.X < p.X+p.W && p.Y < q.Y+q.H && q.Y < p.Y+p.H
}
