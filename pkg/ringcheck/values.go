package ringcheck

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/pkg/seal"
)

// Values are the sealed values of one column. An index on Key, of the rows of Where, finds the keys in use without reading the
// others.
type Values struct {
	Table, Column string
	// Key is the SQL expression of the beginning of a sealed value that names its key, as seal.Ring.Prefix returns it. It is NULL if the
	// row has none.
	Key string
	// Where is the condition of the index.
	Where string
	// Read lists the columns that Scan reads.
	Read string
	// Scan reads the value of a row.
	Scan func(row pgx.CollectableRow) (Value, error)
}

// Value returns why the ring does not open a value: an error of package seal. Any other error ends the check of the column. The
// transaction is for what else it must know.
type Value func(ctx context.Context, tx pgx.Tx, ring *seal.Ring) error

// Name is that of the column in logs and metrics.
func (v Values) Name() string { return v.Table + "." + v.Column }

// keyOf is the key of a column that holds nothing but a sealed value. A value is empty once it is erased.
const keyOf = `CASE WHEN length(%[1]s) > 0 THEN substring(%[1]s FOR get_byte(%[1]s, 0) + 1) END`

// Columns are the values of a table whose columns hold nothing but a sealed value.
func Columns(table reencrypt.Table) []Values {
	values := make([]Values, len(table.Columns))
	for i, column := range table.Columns {
		values[i] = Values{
			Table: table.Name, Column: column.Name,
			Key: fmt.Sprintf(keyOf, column.Name), Where: column.Name + " IS NOT NULL", Read: "id::text, " + column.Name,
			Scan: func(row pgx.CollectableRow) (Value, error) {
				var id string
				var value []byte
				err := row.Scan(&id, &value)
				return func(_ context.Context, _ pgx.Tx, ring *seal.Ring) error {
					return ring.Check(value, column.AssociatedData(id))
				}, err
			},
		}
	}
	return values
}

// Ring is a ring of keys, and what it must open.
type Ring struct {
	keys    *seal.Ring
	setting string
	// counted means that failures to open a value in use are counted here.
	counted bool
	values  []Values
}

// SealKeys is the ring of sealed columns.
func SealKeys(keys *seal.Ring, values ...Values) Ring {
	return Ring{keys: keys, setting: "GIFTING_SEAL_KEYS", counted: true, values: values}
}

// EventKeys is the ring of sealed members of events. Package eventseal counts the events that do not open.
func EventKeys(keys *seal.Ring, values ...Values) Ring {
	return Ring{keys: keys, setting: "GIFTING_EVENT_KEYS", values: values}
}

// keyID is the id of a key as it may be logged: what is not the beginning of a sealed value can be anything.
func keyID(prefix []byte) string {
	return strings.ToValidUTF8(string(prefix[min(1, len(prefix)):min(len(prefix), 1+maxIDLen)]), "?")
}

// maxIDLen is the longest id that a ring accepts.
const maxIDLen = 32
