package pgtest

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// TwinTenant is the tenant of all twins. It is first in every order.
const TwinTenant = "00000000-0000-0000-0000-000000000001"

const twinTrigger = `
CREATE FUNCTION twin_of_%[1]s() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    twin %[1]s := NEW;
BEGIN
    twin.tenant_id := '` + TwinTenant + `';
    %[2]s
    INSERT INTO %[1]s OVERRIDING SYSTEM VALUE VALUES (twin.*) ON CONFLICT DO NOTHING;
    IF FOUND THEN
        INSERT INTO twins SELECT '%[1]s', to_jsonb(x) FROM (SELECT twin.*) AS x;
    END IF;
    RETURN NEW;
END
$$;
CREATE TRIGGER twin BEFORE INSERT ON %[1]s FOR EACH ROW WHEN (NEW.tenant_id <> '` + TwinTenant + `')
    EXECUTE FUNCTION twin_of_%[1]s()`

// Twin gives each row that is inserted into a table a twin, which another tenant has under the same keys, before the row itself.
// So a statement that leaves out the tenant finds the twin first, or changes it: when the test ends, all twins must be as they
// were made. tables says how the twins of a table differ, in PL/pgSQL assignments to fields of the record twin.
func Twin(t testing.TB, pool *pgxpool.Pool, tables map[string]string) {
	t.Helper()
	_, err := pool.Exec(t.Context(), "CREATE TABLE twins (name text, made jsonb)")
	require.NoError(t, err)
	for name, differ := range tables {
		_, err := pool.Exec(t.Context(), fmt.Sprintf(twinTrigger, name, differ))
		require.NoError(t, err)
	}
	ctx := context.WithoutCancel(t.Context())
	t.Cleanup(func() {
		if t.Failed() {
			return
		}
		for name := range tables {
			var changed int
			require.NoError(t, pool.QueryRow(ctx, fmt.Sprintf(`SELECT count(*)
FROM (SELECT made FROM twins WHERE name = '%[1]s') AS was
FULL JOIN (SELECT * FROM %[1]s WHERE tenant_id = $1) AS x ON was.made = to_jsonb(x)
WHERE was.made IS NULL OR x.tenant_id IS NULL`, name), TwinTenant).Scan(&changed))
			require.Zero(t, changed, "a statement changed rows of another tenant in %s; a test whose own SQL does so uses setupWithoutTwins",
				name)
		}
	})
}
