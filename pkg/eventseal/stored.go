package eventseal

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/ringcheck"
	"github.com/partnergifting/platform/pkg/seal"
)

// Stored are the sealed members of events in a column, for the check of the ring. The table has columns tenant_id and event_id.
// Migrations of its owner make the SQL function event_seal_key, which finds the key of an event, and an index with it.
func Stored(table, column string) ringcheck.Values {
	key := "event_seal_key(" + column + ")"
	return ringcheck.Values{
		Table: table, Column: column, Key: key, Where: key + " IS NOT NULL", Read: "tenant_id::text, event_id::text, " + column,
		Scan: func(row pgx.CollectableRow) (ringcheck.Value, error) {
			var at Place
			var text []byte
			err := row.Scan(&at.TenantID, &at.EventID, &text)
			return func(_ context.Context, _ pgx.Tx, ring *seal.Ring) error {
				_, err := openMembers(ring, at, text)
				return err
			}, err
		},
	}
}
