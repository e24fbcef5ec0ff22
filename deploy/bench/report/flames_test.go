package report_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/report"
)

func TestAFlameGraphHasEachFunctionAsWideAsItsShare(t *testing.T) {
	t.Parallel()
	location := func(functions ...string) *profile.Location {
		l := &profile.Location{}
		for _, name := range functions {
			l.Line = append(l.Line, profile.Line{Function: &profile.Function{Name: name}})
		}
		return l
	}
	serve, place := location("net/http.serve"), location("example.com/inlined", "github.com/partnergifting/platform/place")
	svg := report.Flames("a & b", &profile.Profile{Sample: []*profile.Sample{
		{Value: []int64{1, 750}, Location: []*profile.Location{place, serve}},
		{Value: []int64{1, 240}, Location: []*profile.Location{serve}},
		{Value: []int64{1, 10}, Location: []*profile.Location{location("runtime.gc<T>")}},
	}})
	for _, wanted := range []string{
		`a &amp; b`,
		`<title>all 100.0%</title><rect x="0.0" y="40" width="1600.0"`,
		`<title>net/http.serve 99.0%</title><rect x="0.0" y="58" width="1584.0" height="18" fill="#3b6ea5"`,
		`<title>github.com/partnergifting/platform/place 75.0%</title><rect x="0.0" y="76" width="1200.0" height="18" fill="#2f7d4f"`,
		`<title>example.com/inlined 75.0%</title><rect x="0.0" y="94" width="1200.0"`,
		`<title>runtime.gc&lt;T&gt; 1.0%</title><rect x="1584.0" y="58" width="16.0" height="18" fill="#b3372f"`,
	} {
		require.Contains(t, svg, wanted)
	}
	file := filepath.Join(t.TempDir(), "flames.svg")
	require.NoError(t, os.WriteFile(file, []byte(svg), 0o600))
	requireXML(t, file)
}

func TestAnEmptyProfileHasAnEmptyFlameGraph(t *testing.T) {
	t.Parallel()
	require.NotContains(t, report.Flames("nothing", &profile.Profile{}), "<rect x=")
}
