package edge

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAForcedTimeoutEnds30SecondsAfterItsRequestBegan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := &Handler{Deps: Deps{ShuttingDown: make(chan struct{})}}
		c := &call{forced: forcedAnswer{fault: forceTimeout, applied: true}, began: time.Now()}
		time.Sleep(12 * time.Second) //nolint:forbidigo // The clock of the test: the call took this long.
		require.PanicsWithValue(t, http.ErrAbortHandler, func() { h.dropAnswer(c, make(chan struct{})) })
		require.Equal(t, 30*time.Second, time.Since(c.began))
	})
}
