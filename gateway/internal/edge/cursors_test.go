package edge_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/gateway/internal/edge"
	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

const cursor = "AQIDBAUGBwgJCgsM"

func withCursors(t *testing.T, policy edge.Signatures) *gatewaytest.Fixture {
	t.Helper()
	f := gatewaytest.NewWith(t, gatewaytest.Options{Configure: func(cfg *gateway.Config) { cfg.CursorSignatures = policy }})
	f.Cursor = cursor
	return f
}

// next returns the cursor of a page of orders.
func next(t *testing.T, f *gatewaytest.Fixture) string {
	t.Helper()
	text, ok := f.Do("GET", "/orders", "").Parsed["nextCursor"].(string)
	require.True(t, ok)
	return text
}

func TestACursorWithAnotherCharacterIsRefused(t *testing.T) {
	t.Parallel()
	f := withCursors(t, edge.SignaturesRequired)
	signed := next(t, f)
	require.Equal(t, http.StatusOK, f.Do("GET", "/orders?after="+signed, "").Status)
	refused := func(after string) {
		t.Helper()
		got := f.Do("GET", "/orders?after="+after, "")
		require.Equal(t, http.StatusBadRequest, got.Status, after)
		require.Equal(t, []any{fieldError("after", "invalid", "is not a cursor of this list and these filters")}, got.Parsed["errors"])
	}
	for i := range signed {
		for _, other := range []byte("Aa_") {
			if signed[i] != other {
				refused(signed[:i] + string(other) + signed[i+1:])
			}
		}
	}
	for _, after := range []string{"", cursor, cursor + ".", "." + signed, signed + ".", signed + "=", signed + signed} {
		refused(after)
	}
}

func TestSignaturesBeginInSteps(t *testing.T) {
	t.Parallel()
	off, on, required := withCursors(t, edge.SignaturesOff), withCursors(t, edge.SignaturesOn), withCursors(t, edge.SignaturesRequired)
	require.Equal(t, cursor, next(t, off))
	require.Equal(t, next(t, required), next(t, on))
	for _, step := range [][2]*gatewaytest.Fixture{{off, on}, {on, off}, {on, required}, {required, on}} {
		require.Equal(t, http.StatusOK, step[1].Do("GET", "/orders?after="+next(t, step[0]), "").Status)
	}
}
