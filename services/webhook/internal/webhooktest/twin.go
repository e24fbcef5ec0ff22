package webhooktest

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

// Twin gives each row a twin of another tenant. Twins of deliveries are never due.
func Twin(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	pgtest.Twin(t, pool, map[string]string{
		"events":     "twin.type := 'twin'; twin.body := 'twin';",
		"deliveries": "twin.next_attempt_at := '9000-01-01';",
		"attempts":   "twin.response_body := 'twin';",
		"pauses":     "twin.until := '9000-01-01';",
	})
}
