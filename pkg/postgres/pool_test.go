package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

func TestOptionsOfAServiceHoldForItsStatements(t *testing.T) {
	t.Parallel()
	tel := telemetrytest.New()
	pool, err := postgres.OpenObserved(t.Context(), postgres.Config{URL: pgtest.NewURL(t, table())}, tel.Telemetry,
		postgres.ByIndex, postgres.PlanOnce)
	require.NoError(t, err)
	defer pool.Close()
	for setting, wanted := range map[string]string{"enable_seqscan": "off", "plan_cache_mode": "force_generic_plan"} {
		var is string
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&is))
		require.Equal(t, wanted, is, setting)
	}
}
