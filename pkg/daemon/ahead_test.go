package daemon_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func TestADatabaseThatIsAheadIsMeasured(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	require.NoError(t, daemon.ReportAhead(t.Context(), tel.Telemetry, nil))
	require.Equal(t, map[string]float64{"": 0}, tel.Values(t, "gifting.database.ahead"))
	require.NoError(t, daemon.ReportAhead(t.Context(), tel.Telemetry, []string{"orders/13", "outbox/7"}))
	require.Equal(t, map[string]float64{"": 2}, tel.Values(t, "gifting.database.ahead"))
}
