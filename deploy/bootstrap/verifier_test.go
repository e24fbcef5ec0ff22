package bootstrap

import (
	"encoding/base64"
	"testing"

	"github.com/stretchr/testify/require"
)

// The password and salt of RFC 7677, section 3.
func TestPostgreSQLAcceptsThePasswordOfAVerifier(t *testing.T) {
	t.Parallel()
	salt, err := base64.StdEncoding.DecodeString("W22ZaJ0SNY7soEsUEjb6gQ==")
	require.NoError(t, err)
	const storedKey, serverKey = "WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=", "wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
	require.Equal(t, "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$"+storedKey+":"+serverKey, verifier("pencil", salt))
}
