package store_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// wholeOrders are orders of each kind and state, as SQL.
var wholeOrders = map[string]map[string]string{
	"a custom request": {},
	"a gift": {
		"item_kind": "'CATALOG'", "product_id": "gen_random_uuid()", "budget_amount": "NULL", "budget_currency": "NULL",
	},
	"a cancelled order":  {"status": "'CANCELLED'", "cancellation_reason": "'no'"},
	"an erased order":    {"details_erased_at": "now()", "details_sealed": `''`},
	"an order of a link": {"source": "'PERSONAL_LINK'"},
	"a changed order":    {"version": "7", "updated_at": "now() + interval '1 day'"},
}

// brokenOrders break one rule each.
var brokenOrders = map[string]map[string]string{
	"a negative version":              {"version": "-1"},
	"an unknown source":               {"source": "'FAX'"},
	"an unknown status":               {"status": "'LOST'"},
	"an unknown kind of item":         {"item_kind": "'BOTH'"},
	"a gift without product":          {"item_kind": "'CATALOG'", "budget_amount": "NULL", "budget_currency": "NULL"},
	"a custom request with product":   {"product_id": "gen_random_uuid()"},
	"a custom request without amount": {"budget_amount": "NULL"},
	"an amount without currency":      {"budget_currency": "NULL"},
	"a gift with a budget":            {"item_kind": "'CATALOG'", "product_id": "gen_random_uuid()"},
	"a budget of nothing":             {"budget_amount": "0"},
	"a long country":                  {"delivery_country": "'SWE'"},
	"cancelled without a reason":      {"status": "'CANCELLED'"},
	"a reason without cancellation":   {"cancellation_reason": "'no'"},
	"erased with details":             {"details_erased_at": "now()"},
	"details that are gone":           {"details_sealed": `''`},
	"changed before it was placed":    {"updated_at": "now() - interval '1 day'"},
}

func insertOf(change map[string]string) string {
	row := map[string]string{
		"tenant_id": "gen_random_uuid()", "id": "gen_random_uuid()", "reference": "gen_random_uuid()::text", "source": "'API'",
		"brand_id": "gen_random_uuid()", "status": "'PROCESSING'", "item_kind": "'CUSTOM'", "product_name": "'Mug'",
		"budget_amount": "10", "budget_currency": "'SEK'", "delivery_country": "'SE'", "received_outside_active_hours": "false",
		"details_sealed": `'\x6b'`, "created_at": "now()", "updated_at": "now()",
	}
	maps.Copy(row, change)
	var names, values []string
	for _, name := range slices.Sorted(maps.Keys(row)) {
		names, values = append(names, name), append(values, row[name])
	}
	return fmt.Sprintf("INSERT INTO orders (%s) VALUES (%s) RETURNING id", strings.Join(names, ", "), strings.Join(values, ", "))
}

func TestTheSchemaRefusesOrdersThatBreakARule(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, outbox.Migrations(), store.Migrations())
	refused := func(t *testing.T, sql string, args ...any) {
		t.Helper()
		_, err := pool.Exec(t.Context(), sql, args...)
		var pe *pgconn.PgError
		require.ErrorAs(t, err, &pe)
		require.Equal(t, "23514", pe.Code, pe.Message)
		require.Equal(t, "orders_whole", pe.ConstraintName)
	}
	var whole string
	for name, change := range wholeOrders {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, pool.QueryRow(t.Context(), insertOf(change)).Scan(&whole))
		})
	}
	require.NoError(t, pool.QueryRow(t.Context(), insertOf(nil)).Scan(&whole))
	for name, change := range brokenOrders {
		t.Run(name, func(t *testing.T) {
			refused(t, insertOf(change))
			var set []string
			for column, value := range change {
				set = append(set, column+" = "+value)
			}
			refused(t, "UPDATE orders SET "+strings.Join(set, ", ")+" WHERE id = $1", whole)
		})
	}
}
