package edge

import (
	"net/http"
	"os"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// The SDKs do not repeat a request that was answered with 400.
func TestABodyThatComesTooSlowlyIsNotAnswered(t *testing.T) {
	t.Parallel()
	c := &call{body: make([]byte, 0, 1)}
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { _ = c.readAll(iotest.ErrReader(os.ErrDeadlineExceeded)) })
}
