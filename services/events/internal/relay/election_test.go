package relay

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func TestTheServerEndsTheSessionOfALeaderThatVanished(t *testing.T) {
	e := election{url: pgtest.NewURL(t), log: telemetry.Discard().Logger}
	conn, err := e.connect(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for name, want := range map[string]string{
		"idle_session_timeout":    "10s",
		"tcp_keepalives_idle":     "5",
		"tcp_keepalives_interval": "2",
		"tcp_keepalives_count":    "3",
	} {
		var got string
		require.NoError(t, conn.QueryRow(t.Context(), "SHOW "+name).Scan(&got))
		require.Equal(t, want, got, name)
	}
	require.Greater(t, idleSession, pingEvery+pingTimeout, "a leader that is cut off knows before another is elected")
}
