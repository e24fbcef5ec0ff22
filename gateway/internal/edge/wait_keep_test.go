package edge

import (
	"net/http"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAHeldCallKeepsNoOtherHeaderOfItsRequest(t *testing.T) {
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
	require.Equal(t, http.Header{"Authorization": {"Bearer key"}}, kept.Header)
}
