package catalogcopy

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"net/url"
	"time"

	_ "github.com/ncruces/go-sqlite3/driver" // For database/sql.

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// schema of the file. The columns beside the record are for queries.
const schema = `
CREATE TABLE IF NOT EXISTS products (
	id         TEXT PRIMARY KEY,
	name       TEXT NOT NULL,
	available  INTEGER NOT NULL,
	updated_at TEXT NOT NULL,
	record     TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS sync (
	only    INTEGER PRIMARY KEY CHECK (only = 1),
	country TEXT NOT NULL,
	locale  TEXT NOT NULL,
	newest  TEXT NOT NULL
) STRICT;`

// sqlite is a copy in a database. All of a sync is one transaction.
type sqlite struct {
	db    *sql.DB
	tx    *sql.Tx
	state State
}

// SQLite opens a copy in a file, which is made if it does not exist.
func SQLite(ctx context.Context, path string) (Copy, error) {
	db, err := sql.Open("sqlite3", "file:"+url.PathEscape(path)+"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	s := &sqlite{db: db}
	if err := s.open(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s *sqlite) open(ctx context.Context) error {
	if _, err := s.db.ExecContext(ctx, schema); err != nil {
		return err
	}
	var err error
	if s.tx, err = s.db.BeginTx(ctx, nil); err != nil {
		return err
	}
	// In the transaction, because it waits for that of another sync.
	var newest string
	err = s.tx.QueryRowContext(ctx, "SELECT country, locale, newest FROM sync").Scan(&s.state.Country, &s.state.Locale, &newest)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		s.state.Newest, err = time.Parse(time.RFC3339Nano, newest)
	}
	if err != nil {
		return errors.Join(err, s.tx.Rollback())
	}
	return nil
}

// State implements Copy.
func (s *sqlite) State() State { return s.state }

// Apply implements Copy.
func (s *sqlite) Apply(ctx context.Context, entries []gifting.ProductEntry) error {
	for _, entry := range entries {
		if entry.Product == nil {
			if _, err := s.tx.ExecContext(ctx, "DELETE FROM products WHERE id = ?", entry.ID()); err != nil {
				return err
			}
			continue
		}
		record, err := json.Marshal(entry.Product)
		if err != nil {
			return err
		}
		_, err = s.tx.ExecContext(ctx, `
			INSERT INTO products (id, name, available, updated_at, record) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (id) DO UPDATE SET
				name = excluded.name, available = excluded.available, updated_at = excluded.updated_at, record = excluded.record`,
			entry.Product.ID, entry.Product.Name, entry.Product.Available, entry.Product.UpdatedAt.Format(time.RFC3339Nano), string(record))
		if err != nil {
			return err
		}
	}
	return nil
}

// Commit implements Copy.
func (s *sqlite) Commit(ctx context.Context, state State) error {
	_, err := s.tx.ExecContext(ctx, `
		INSERT INTO sync (only, country, locale, newest) VALUES (1, ?, ?, ?)
		ON CONFLICT (only) DO UPDATE SET newest = excluded.newest`, state.Country, state.Locale, state.Newest.Format(time.RFC3339Nano))
	if err != nil {
		return err
	}
	return s.tx.Commit()
}

// Count implements Copy.
func (s *sqlite) Count(ctx context.Context) (count int, err error) {
	err = s.db.QueryRowContext(ctx, "SELECT count(*) FROM products").Scan(&count)
	return count, err
}

// Clear implements Copy.
func (s *sqlite) Clear(ctx context.Context) error {
	_, err := s.tx.ExecContext(ctx, "DELETE FROM products")
	return err
}

// Close implements Copy. What is not committed is dropped.
func (s *sqlite) Close() error {
	if err := s.tx.Rollback(); err != nil && !errors.Is(err, sql.ErrTxDone) {
		return errors.Join(err, s.db.Close())
	}
	return s.db.Close()
}
