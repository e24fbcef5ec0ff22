package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/settings"
)

//nolint:paralleltest // It sets environment variables.
func TestADatabaseURLIsRefusedWithoutItsPassword(t *testing.T) {
	for _, url := range []string{"postgres://u:hunter2@h:none/db", "postgres://u:hunter2@h/db?sslmode=hunter2", "mysql://u:hunter2@h/db"} {
		t.Setenv("GIFTING_DATABASE_URL", url)
		err := settings.Load(&postgres.Config{})
		require.ErrorContains(t, err, "GIFTING_DATABASE_URL: ")
		require.NotContains(t, err.Error(), "hunter2")
	}
	t.Setenv("GIFTING_DATABASE_URL", "postgres://u:p@h1:5432,h2:5432/db?sslmode=disable&pool_max_conns=4")
	require.NoError(t, settings.Load(&postgres.Config{}))
}
