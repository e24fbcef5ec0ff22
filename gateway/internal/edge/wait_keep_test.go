package edge

import (
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAHeldCallKeepsNoHeaderOfItsRequest(t *testing.T) {
	t.Parallel()
	values := []string{"Bearer key", "long"} // The HTTP server puts the values of all headers into one array.
	freed := make(chan struct{})
	runtime.AddCleanup(&values[0], func(done chan struct{}) { close(done) }, freed)
	kept := keep(&http.Request{Header: http.Header{"Authorization": values[:1:1], "Cookie": values[1:]}})
	require.Eventually(t, func() bool {
		runtime.GC()
		select {
		case <-freed:
			return true
		default:
			return false
		}
	}, time.Minute, time.Millisecond)
	require.Empty(t, kept.Header)
}

func TestAKeptHeaderReplacesTheSameNames(t *testing.T) {
	t.Parallel()
	kept := keepHeader(http.Header{"Connection": {"close"}, "Sandbox": {"first", "second"}, "Empty": nil})
	header := http.Header{"Connection": {"close"}, "Date": {"today"}}
	for range 2 {
		kept.restore(header)
		require.Equal(t, http.Header{"Connection": {"close"}, "Date": {"today"}, "Sandbox": {"first", "second"}}, header)
	}
}
