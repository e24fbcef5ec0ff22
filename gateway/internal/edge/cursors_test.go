package edge_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

const cursor = "AQIDBAUGBwgJCgsM"

// next returns the cursor of a page of orders.
func next(t *testing.T, f *gatewaytest.Fixture) string {
	t.Helper()
	text, ok := f.Do("GET", "/orders", "").Parsed["nextCursor"].(string)
	require.True(t, ok)
	return text
}

// Conformance changes each character of a cursor.
func TestACursorThatWasNotSignedIsRefused(t *testing.T) {
	t.Parallel()
	f := gatewaytest.New(t)
	f.Cursor = cursor
	signed := next(t, f)
	require.Equal(t, http.StatusOK, f.Do("GET", "/orders?after="+signed, "").Status)
	last := len(signed) - 1
	sameBytes := signed[:last] + string(signed[last]+1) // The last character has bits that base64 ignores.
	for _, after := range []string{"", cursor, cursor + ".", "." + signed, signed + ".", sameBytes} {
		got := f.Do("GET", "/orders?after="+after, "")
		require.Equal(t, http.StatusBadRequest, got.Status, after)
		require.Equal(t, []any{fieldError("after", "invalid", "is not a cursor of this list and these filters")}, got.Parsed["errors"])
	}
}
