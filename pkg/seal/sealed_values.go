package seal

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// SealedValues are the sealed values of one column. An index on Key, of the rows of Where, finds the keys in use without reading
// the others.
type SealedValues struct {
	Table, Column string
	// Key is the SQL expression of the beginning of a sealed value that names its key, as Ring.Prefix returns it. It is NULL if the
	// row has none.
	Key string
	// Where is the condition of the index.
	Where string
	// Read lists the columns that Scan reads.
	Read string
	// Scan reads the value of a row.
	Scan func(row pgx.CollectableRow) (OpenValue, error)
}

// OpenValue returns why the ring does not open a value: nil if it does, or an error of this package. Any other error ends the check
// of the column. The transaction is for what else OpenValue must read.
type OpenValue func(ctx context.Context, tx pgx.Tx, ring *Ring) error

// Name is that of the column in logs and metrics.
func (v SealedValues) Name() string { return v.Table + "." + v.Column }

// keyOf is the key of a column that holds nothing but a sealed value. A value is empty once it is erased.
const keyOf = `CASE WHEN length(%[1]s) > 0 THEN substring(%[1]s FOR get_byte(%[1]s, 0) + 1) END`

// SealedColumns are the values of a table whose columns hold nothing but a sealed value.
func SealedColumns(table Table) []SealedValues {
	values := make([]SealedValues, len(table.Columns))
	for i, column := range table.Columns {
		values[i] = SealedValues{
			Table: table.Name, Column: column.Name,
			Key: fmt.Sprintf(keyOf, column.Name), Where: column.Name + " IS NOT NULL", Read: "id::text, " + column.Name,
			Scan: func(row pgx.CollectableRow) (OpenValue, error) {
				var id string
				var value []byte
				err := row.Scan(&id, &value)
				return func(_ context.Context, _ pgx.Tx, ring *Ring) error {
					return ring.Check(value, column.AssociatedData(id))
				}, err
			},
		}
	}
	return values
}

// StoredEvents are the sealed members of events in a column, for the check of the ring. The table has columns tenant_id and
// event_id. Migrations of its owner make the SQL function event_seal_key, which finds the key of an event, and an index with it.
func StoredEvents(table, column string) SealedValues {
	key := "event_seal_key(" + column + ")"
	return SealedValues{
		Table: table, Column: column, Key: key, Where: key + " IS NOT NULL", Read: "tenant_id::text, event_id::text, " + column,
		Scan: func(row pgx.CollectableRow) (OpenValue, error) {
			var ref EventRef
			var text []byte
			err := row.Scan(&ref.TenantID, &ref.EventID, &text)
			return func(_ context.Context, _ pgx.Tx, ring *Ring) error {
				_, err := openMembers(ring, ref, text)
				return err
			}, err
		},
	}
}

// CheckedRing is a ring of keys, and what it must open.
type CheckedRing struct {
	keys    *Ring
	setting string
	// counted means that failures to open a value in use are counted here.
	counted bool
	values  []SealedValues
}

// CheckedRingOf is the ring of sealed columns.
func CheckedRingOf(keys *Ring, values ...SealedValues) CheckedRing {
	return CheckedRing{keys: keys, setting: "GIFTING_SEAL_KEYS", counted: true, values: values}
}

// CheckedEventRing is the ring of sealed members of events. [EventReader] counts the events that do not open.
func CheckedEventRing(keys *Ring, values ...SealedValues) CheckedRing {
	return CheckedRing{keys: keys, setting: "GIFTING_EVENT_KEYS", values: values}
}

// keyID is the id of a key as it may be logged: what is not the beginning of a sealed value can be anything.
func keyID(prefix []byte) string {
	return strings.ToValidUTF8(string(prefix[min(1, len(prefix)):min(len(prefix), 1+maxIDLen)]), "?")
}
