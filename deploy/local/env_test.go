package local

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestValuesOfDemoEnvAreQuotedForAShell(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/home/ann/.local/tls/ca.crt", quoteWord("/home/ann/.local/tls/ca.crt"))
	require.Equal(t, "'/home/Ann Berg/ca.crt'", quoteWord("/home/Ann Berg/ca.crt"))
	require.Equal(t, `'/home/O'\''Hara/ca.crt'`, quoteWord("/home/O'Hara/ca.crt"))
}
