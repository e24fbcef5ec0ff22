// Package store keeps the catalog in PostgreSQL.
//
// The catalog's upkeep runs under one advisory lock, so updated_at grows in the order of the
// commits, whatever the clock does. Reservations do not take it: they lock their own row, then the SKU's.
package store

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the catalog.
func Migrations() postgres.Migrations {
	return postgres.Embedded("catalog", files)
}

// Store is safe for concurrent use.
type Store struct {
	pool *pgxpool.Pool
}

// New makes a store on a migrated database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// upkeepLock is the key of the advisory lock all upkeep runs under. It is held until the commit is
// visible, so the next change takes its time from the clock after this one can be read.
const upkeepLock = `SELECT pg_advisory_xact_lock(4713001)`

// upkeep runs work as the only change of the catalog.
func (s *Store) upkeep(ctx context.Context, work func(tx pgx.Tx) error) error {
	return postgres.InTx(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, upkeepLock); err != nil {
			return fmt.Errorf("wait for other upkeep: %w", err)
		}
		return work(tx)
	})
}
