package daemon_test

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
)

func TestTheHeapGrowsFurtherUnlessTheEnvironmentSaysHowFar(t *testing.T) {
	before := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	t.Setenv("GOGC", "50") // Go itself has read it at the start.
	daemon.TuneGC()
	require.Equal(t, 100, debug.SetGCPercent(100))
	t.Setenv("GOGC", "")
	daemon.TuneGC()
	require.EqualValues(t, 400, percent())
	for _, tc := range []struct{ live, least, most uint64 }{
		{40 << 20, 60, 80},
		{16 << 20, 130, 220},
		{256 << 20, 50, 50},
		{1, 400, 400},
	} {
		kept := make([]byte, tc.live)
		require.Eventually(t, func() bool {
			runtime.GC()
			got := percent()
			return tc.least <= got && got <= tc.most
		}, 30*time.Second, time.Millisecond, "%d bytes are live", tc.live)
		runtime.KeepAlive(kept)
	}
}

// percent is the present GOGC.
func percent() uint64 {
	found := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(found)
	return found[0].Value.Uint64()
}
