package tenants

import (
	"strconv"
	"strings"

	"github.com/partnergifting/platform/pkg/seal"
)

// Table holds rows of tenants, which are counted, exported and erased tenant by tenant.
//
// A service lists its tables once. A test compares the list with the catalogue of the migrated database (package tenantstest), so
// no table with a tenant's rows can be forgotten. Erasing goes through the tables in the order of the list, in short transactions.
// It may be interrupted, repeated and run twice at once.
type Table struct {
	Name string
	// Rows is the condition for the rows of a tenant, whose id is $1. Empty: tenant_id = $1.
	Rows string
	// ByKey means that the rows name only an API key, in key_id.
	ByKey bool
	// Key are the columns that identify a row, each with its type, such as "id uuid".
	Key []string
	// Kept says why the rows are not erased. Empty: they are erased.
	Kept string
	// Hidden rows are not exported, because they say nothing to the tenant.
	Hidden bool
	// Exported is the condition for the rows that the tenant may see, and that are therefore exported. Empty: all.
	Exported string
	// Withheld is the condition for the exported rows whose sealed columns the tenant may not see. They are null. Empty: none.
	Withheld string
	// Omit are columns that are not exported.
	Omit []string
	// Sealed are columns that are exported in clear.
	Sealed []seal.Column
	// Bytes are columns that hold text or JSON as bytes, and are exported as that.
	Bytes []string
	// Text are those of Sealed and Bytes that are text even if they look like JSON.
	Text []string
	// Events means that Bytes are events, exported with their sealed members in clear. The rows have tenant_id and event_id.
	Events bool
}

// condition takes the tenant or its keys as $1, see args.
func (t Table) condition() string {
	switch {
	case t.ByKey:
		return "key_id = ANY($1::int[])"
	case t.Rows != "":
		return t.Rows
	default:
		return "tenant_id = $1::uuid"
	}
}

func (t Table) args(tenant Tenant, more ...any) []any {
	if t.ByKey {
		return append([]any{tenant.KeyIDs}, more...)
	}
	return append([]any{tenant.ID}, more...)
}

// key returns the columns of the key, and how they are read from a JSON array in $2.
func (t Table) key() (columns, after string) {
	names, values := make([]string, len(t.Key)), make([]string, len(t.Key))
	for i, column := range t.Key {
		name, kind, _ := strings.Cut(column, " ")
		names[i] = name
		values[i] = "($2::jsonb->>" + string(rune('0'+i)) + ")::" + kind
	}
	return strings.Join(names, ", "), strings.Join(values, ", ")
}

func (t Table) countSQL() string {
	return "SELECT count(*) FROM " + t.Name + " WHERE " + t.condition()
}

// eraseSQL deletes up to batch rows. They are taken in any order, since to sort them would take longer the more the tenant has. Two
// erasures at once mostly take them in the same order and wait for each other; a deadlock is repeated. The limit is a constant,
// because the planner takes a parameter for a tenth of the rows, and would then read them all for each batch.
func (t Table) eraseSQL() string {
	columns, _ := t.key()
	return "DELETE FROM " + t.Name + " WHERE " + t.condition() + " AND (" + columns + ") IN (SELECT " + columns + " FROM " + t.Name +
		" WHERE " + t.condition() + " LIMIT " + strconv.Itoa(batch) + " FOR UPDATE)"
}

// pageSQL reads rows in the order of the key: the first $2 ones, or the first $3 after the key $2.
func (t Table) pageSQL(first bool) string {
	columns, after := t.key()
	where, limit := t.condition(), "$2"
	if !first {
		where, limit = "("+where+") AND ("+columns+") > ("+after+")", "$3"
	}
	if t.Exported != "" {
		where = "(" + where + ") AND (" + t.Exported + ")"
	}
	row := "to_jsonb(t)"
	if t.Withheld != "" {
		for _, column := range t.Sealed {
			row += " || CASE WHEN " + t.Withheld + " THEN '{\"" + column.Name + "\": null}'::jsonb ELSE '{}' END"
		}
	}
	return "SELECT jsonb_build_array(" + columns + ")::text, " + row + " FROM " + t.Name + " t WHERE " + where +
		" ORDER BY " + columns + " LIMIT " + limit
}

// Tenant is the one whose rows are counted, exported or erased.
type Tenant struct {
	ID string
	// KeyIDs are all API keys that the tenant ever had.
	KeyIDs []int32
}
