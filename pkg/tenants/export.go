package tenants

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
)

// pageRows and pageBytes bound a page of an export. One row is smaller than the largest message by far.
const (
	pageRows  = 200
	pageBytes = 4 << 20
)

// position is where a page ends: in a table, after the row with this key, or before its first row if there is no key.
type position struct {
	Table int             `json:"t"`
	Key   json.RawMessage `json:"k,omitempty"`
}

// Export returns a page of the rows that the tenant may see as JSON lines, and where the next page begins; empty: nowhere. after is
// empty for the first page.
func (d *Database) Export(ctx context.Context, tenant Tenant, after string) (lines []byte, next string, err error) {
	at, err := d.position(after)
	if err != nil {
		return nil, "", err
	}
	var page bytes.Buffer
	for at.Table < len(d.Tables) {
		t := d.Tables[at.Table]
		if !t.Hidden {
			if at.Key, err = d.exportTable(ctx, t, tenant, at.Key, &page); err != nil {
				return nil, "", fmt.Errorf("export rows of %s: %w", t.Name, err)
			}
		}
		if at.Key == nil {
			at = position{Table: at.Table + 1}
		}
		if page.Len() > 0 && at.Table < len(d.Tables) {
			text, err := json.Marshal(at)
			return page.Bytes(), string(text), err
		}
	}
	return page.Bytes(), "", nil
}

// position reads a cursor. Whether the values of the key have the right types is left to the database.
func (d *Database) position(cursor string) (at position, err error) {
	if cursor == "" {
		return position{}, nil
	}
	if err := json.Unmarshal([]byte(cursor), &at); err != nil || at.Table < 0 || at.Table >= len(d.Tables) {
		return position{}, ErrExportCursor
	}
	if at.Key == nil {
		return at, nil
	}
	var key []any
	t := d.Tables[at.Table]
	if err := json.Unmarshal(at.Key, &key); err != nil || t.Hidden || len(key) != len(t.Key) || slices.Contains(key, nil) {
		return position{}, ErrExportCursor
	}
	return at, nil
}

// exportTable writes rows after the key and returns the key of the last one; nil: the table has no more.
func (d *Database) exportTable(
	ctx context.Context, t Table, tenant Tenant, after json.RawMessage, page *bytes.Buffer,
) (json.RawMessage, error) {
	args := t.args(tenant, pageRows)
	if after != nil {
		args = t.args(tenant, string(after), pageRows)
	}
	rows, err := d.Pool.Query(ctx, t.pageSQL(after == nil), args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var key string
		var row map[string]json.RawMessage
		if err := rows.Scan(&key, &row); err != nil {
			return nil, err
		}
		if err := d.writeRow(ctx, t, row, page); err != nil {
			return nil, err
		}
		after, n = json.RawMessage(key), n+1
		if page.Len() >= pageBytes {
			return after, nil
		}
	}
	if err := rows.Err(); postgres.InvalidData(err) && n == 0 {
		return nil, fmt.Errorf("%w: %w", ErrExportCursor, err)
	} else if err != nil {
		return nil, err
	}
	if n < pageRows {
		return nil, nil //nolint:nilnil // The table ends here.
	}
	return after, nil
}

func (d *Database) writeRow(ctx context.Context, t Table, row map[string]json.RawMessage, page *bytes.Buffer) error {
	for _, column := range t.Omit {
		delete(row, column)
	}
	for _, column := range t.Sealed {
		var id string
		if err := json.Unmarshal(row["id"], &id); err != nil {
			return fmt.Errorf("id: %w", err)
		}
		text, err := d.open(row[column.Name], column.AssociatedData(id))
		if err != nil {
			return fmt.Errorf("%s: %w", column.Name, err)
		}
		delete(row, column.Name)
		if row[strings.TrimSuffix(column.Name, "_sealed")], err = t.readable(column.Name, text); err != nil {
			return fmt.Errorf("%s: %w", column.Name, err)
		}
	}
	for _, column := range t.Bytes {
		text, err := bytesOf(row[column])
		if err == nil && t.Events {
			text, err = d.openEvent(ctx, row, text)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
		if row[column], err = t.readable(column, text); err != nil {
			return fmt.Errorf("%s: %w", column, err)
		}
	}
	line, err := json.Marshal(struct {
		Table string                     `json:"table"`
		Row   map[string]json.RawMessage `json:"row"`
	}{t.Name, row})
	if err != nil {
		return err
	}
	page.Write(line)
	page.WriteByte('\n')
	return nil
}

func (d *Database) openEvent(ctx context.Context, row map[string]json.RawMessage, text []byte) ([]byte, error) {
	var ref seal.EventRef
	if err := errors.Join(json.Unmarshal(row["tenant_id"], &ref.TenantID), json.Unmarshal(row["event_id"], &ref.EventID)); err != nil {
		return nil, err
	}
	return d.Events.Open(ctx, ref, text)
}

// open opens a sealed value; nil if it is erased or absent.
func (d *Database) open(value json.RawMessage, associated string) ([]byte, error) {
	sealed, err := bytesOf(value)
	if err != nil || len(sealed) == 0 {
		return nil, err
	}
	return d.Ring.Open(sealed, associated)
}

// bytesOf reads a value of type bytea, which to_jsonb writes as \x and hex digits.
func bytesOf(value json.RawMessage) ([]byte, error) {
	var text *string
	if err := json.Unmarshal(value, &text); err != nil || text == nil {
		return nil, err
	}
	return hex.DecodeString(strings.TrimPrefix(*text, `\x`))
}

// readable is JSON as it is, and text as a string.
func (t Table) readable(column string, text []byte) (json.RawMessage, error) {
	switch {
	case text == nil:
		return json.RawMessage("null"), nil
	case !slices.Contains(t.Text, column) && json.Valid(text):
		return text, nil
	default:
		return json.Marshal(string(text))
	}
}
