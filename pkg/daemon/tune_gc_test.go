package daemon_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
)

//nolint:paralleltest // It sets environment variables.
func TestTheHeapGrowsFurtherUnlessTheEnvironmentSaysHowFar(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "50") // Go itself has read it at the start.
	daemon.TuneGC()
	require.Equal(t, 100, debug.SetGCPercent(100))
	t.Setenv("GOGC", "")
	daemon.TuneGC()
	require.Equal(t, 400, debug.SetGCPercent(100))
}
