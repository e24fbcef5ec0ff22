package main

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const broken = "./testdata/broken"

func newSuite(t *testing.T, only string, limit time.Duration) suite {
	t.Helper()
	return suite{dir: t.TempDir(), built: t.TempDir(), only: only, limit: limit}
}

func TestABenchmarkThatFailsDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	results, err := newSuite(t, "Fails|Panics|Works", time.Minute).runPackage(t.Context(), broken)
	require.ErrorContains(t, err, "Fails: exit status 1")
	require.ErrorContains(t, err, "Panics: exit status 2")
	require.NotContains(t, err.Error(), "Works")
	found := map[string]float64{}
	for _, r := range results {
		found[r.Benchmark] = r.Metrics["MB"]
	}
	require.Equal(t, map[string]float64{"Fails/first": 1, "Works": 2}, found)
}

func TestABenchmarkThatHangsIsEndedAndSaysWhere(t *testing.T) {
	t.Parallel()
	s := newSuite(t, "Hangs", time.Second)
	_, err := s.runPackage(t.Context(), broken)
	require.ErrorContains(t, err, "Hangs: context deadline exceeded")
	output, err := os.ReadFile(outputOf(s.dir, broken))
	require.NoError(t, err)
	require.Contains(t, string(output), "broken.BenchmarkHangs")
}
