package moves

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// The databases of a cell.
const (
	catalogDB = "catalog"
	ordersDB  = "orders"
	linksDB   = "links"
	eventsDB  = "events"
	webhookDB = "webhook"
)

// writers have an outbox or are written with one; the changes that they record reach the other two.
var (
	writers = []string{catalogDB, linksDB, ordersDB}
	readers = []string{eventsDB, webhookDB}
)

// Databases are the URLs of the databases of cells, each with a login that may replicate. A key is the letter of a cell, whose URL
// has {database} for the name, or a letter and a name, as in b/orders.
type Databases map[string]string

// placeholder is replaced by the name of a database.
const placeholder = "{database}"

// errDatabases refuses the setting. It does not repeat it, because a URL may have a password.
var errDatabases = errors.New("is not a list of a=postgres://…/{database} or a/orders=postgres://…, one for each cell or database")

// ParseDatabases reads the setting.
func ParseDatabases(list []string) (Databases, error) {
	d := Databases{}
	for _, entry := range list {
		key, url, ok := strings.Cut(entry, "=")
		letter, name, single := strings.Cut(key, "/")
		if !ok || len(letter) != 1 || single == strings.Contains(url, placeholder) || single && name == "" {
			return nil, errDatabases
		}
		if _, err := pgx.ParseConfig(strings.ReplaceAll(url, placeholder, ordersDB)); err != nil {
			return nil, errDatabases
		}
		d[key] = url
	}
	return d, nil
}

// url of a database; empty: it is not in the setting.
func (d Databases) url(cell, name string) string {
	if url := d[cell+"/"+name]; url != "" {
		return url
	}
	return strings.ReplaceAll(d[cell], placeholder, name)
}

// errNoDatabase means that the setting lacks a database.
var errNoDatabase = errors.New("GIFTING_CELL_DATABASES has no URL of the database")

func (d Databases) open(ctx context.Context, cell, name string) (*pgx.Conn, error) {
	url := d.url(cell, name)
	if url == "" {
		return nil, fmt.Errorf("%w: %s of cell %s", errNoDatabase, name, cell)
	}
	cfg, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errDatabases
	}
	cfg.RuntimeParams["application_name"] = "gifting-moves"
	// Text of rows is compared, so both sides must write it in the same way.
	cfg.RuntimeParams["timezone"] = "UTC"
	// A lock of a table is waited for only 200 ms. After 50 ms PostgreSQL ends a vacuum of its own that is in the way.
	cfg.RuntimeParams["deadlock_timeout"] = "50ms"
	// A statement that makes a subscription has a password in it.
	cfg.RuntimeParams["log_statement"], cfg.RuntimeParams["log_min_error_statement"] = "none", "panic"
	conn, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("connect to %s of cell %s: %w", name, cell, err)
	}
	return conn, nil
}

// cells are the connections to the databases of both cells for a move.
type cells struct {
	move           *store.Move
	urls           Databases
	source, target map[string]*database
}

// database is one of a cell, with the tables that have rows of tenants.
type database struct {
	*pgx.Conn

	name, cell string
	tables     []table
	// outbox means that the database has one.
	outbox bool
}

// table has rows of tenants.
type table struct {
	name string
	// byKey means that the rows name only a key.
	byKey bool
	// identity is the column whose values come from a sequence; empty: there is none.
	identity string
	// pictures means that the rows name pictures.
	pictures bool
	// columns are all of the table, to compare both cells.
	columns string
}

// Every table of a database with a tenant's rows has the column tenant_id, or names one of its keys (package migrations checks it).
const selectTables = `SELECT c.relname, c.relname = 'idempotency_answers',
  coalesce((SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attidentity <> ''), ''),
  EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'file_id'),
  (SELECT string_agg(attname || ' ' || format_type(atttypid, atttypmod), ', ' ORDER BY attnum) FROM pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped)
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
  AND c.relname <> ALL ($1::text[])
  AND (c.relname = 'idempotency_answers'
    OR EXISTS (SELECT FROM pg_attribute WHERE attrelid = c.oid AND attname = 'tenant_id' AND NOT attisdropped))
ORDER BY pg_table_size(c.oid), c.relname`

// outbox is the table of changes that are not confirmed yet.
const outbox = "outbox"

// notCopied are tables whose rows do not move: the outbox is empty when the tenant is switched, the epochs are carried by functions
// of the feed, and the other two are about the senders of a cell.
var notCopied = []string{outbox, "feed_moved_epochs", "pauses", "moving_tenants"}

// connect connects to the databases of a cell.
func (c *cells) connect(ctx context.Context, cell string, side map[string]*database) error {
	for _, name := range all() {
		conn, err := c.urls.open(ctx, cell, name)
		if err != nil {
			return err
		}
		d := &database{Conn: conn, name: name, cell: cell}
		side[name] = d
		if d.outbox, err = value[bool](ctx, d, `SELECT to_regclass($1) IS NOT NULL`, outbox); err != nil {
			return err
		}
		if d.tables, err = postgres.Select(ctx, conn, "list tables", scanTable, selectTables, notCopied); err != nil {
			return err
		}
	}
	return nil
}

func scanTable(row pgx.CollectableRow) (t table, err error) {
	return t, row.Scan(&t.name, &t.byKey, &t.identity, &t.pictures, &t.columns)
}

// disconnect closes the connections; nothing is lost.
func (c *cells) disconnect() {
	for _, side := range []map[string]*database{c.source, c.target} {
		for _, d := range side {
			_ = d.Close(context.Background())
		}
	}
}

// each calls work with every database of the old cell, and the same of the new one.
func (c *cells) each(names []string, work func(from, to *database) error) error {
	for _, name := range names {
		if err := work(c.source[name], c.target[name]); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// all are the databases of a cell.
func all() []string { return append(append([]string{}, writers...), readers...) }

// rows is the condition for the tenant's rows of a table, whose columns have the prefix. It is part of statements that take no
// parameters.
func (c *cells) rows(t table, prefix string) string {
	if !t.byKey {
		return prefix + "tenant_id = '" + c.move.ID + "'"
	}
	ids := "0" // Of no key.
	for _, id := range c.move.KeyIDs {
		ids += fmt.Sprintf(", %d", id)
	}
	return prefix + "key_id IN (" + ids + ")"
}

// name is that of the publication, the slot and the subscription of a database, and of its triggers.
func (c *cells) name(d *database) string {
	return "gifting_move_" + strings.ReplaceAll(c.move.ID, "-", "") + "_" + d.name
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func (d *database) run(ctx context.Context, what, sql string, args ...any) error {
	if _, err := d.Exec(ctx, sql, args...); err != nil {
		return fmt.Errorf("%s in %s of cell %s: %w", what, d.name, d.cell, err)
	}
	return nil
}

func value[T any](ctx context.Context, d *database, sql string, args ...any) (v T, err error) {
	if err := d.QueryRow(ctx, sql, args...).Scan(&v); err != nil {
		return v, fmt.Errorf("read %s of cell %s: %w", d.name, d.cell, err)
	}
	return v, nil
}
