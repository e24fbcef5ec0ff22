// Package store keeps personal links in PostgreSQL.
package store

import (
	"context"
	"embed"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the links.
func Migrations() postgres.Migrations {
	return postgres.Embedded("links", files)
}

// Store reads and writes links. Its ring seals and opens the sealed columns, and events seals the claim URL in events.
type Store struct {
	pool   *pgxpool.Pool
	ring   *seal.Ring
	events *seal.EventWriter
}

// New makes the store over a migrated database.
func New(pool *pgxpool.Pool, ring *seal.Ring, events *seal.EventWriter) *Store {
	return &Store{pool: pool, ring: ring, events: events}
}

// Pool returns the pool on which the store's transactions run.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// The last change of an ended link is its end.
const eraseDetails = `UPDATE links SET details_sealed = NULL WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM links
  WHERE details_sealed IS NOT NULL AND status IN ('CLAIMED', 'EXPIRED', 'CANCELLED') AND updated_at < now() - $1::interval
  ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

// EraseDetails erases the details of up to limit links that ended more than keep ago by the database's
// clock, and returns how many. Several instances share the work.
func (s *Store) EraseDetails(ctx context.Context, keep time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "erase details", eraseDetails, keep, limit)
}

// selectTenants jumps from one tenant to the next by the primary keys.
const selectTenants = `WITH RECURSIVE of_batches (id) AS (
  (SELECT tenant_id FROM link_batches ORDER BY tenant_id LIMIT 1)
  UNION ALL
  SELECT (SELECT b.tenant_id FROM link_batches b WHERE b.tenant_id > t.id ORDER BY b.tenant_id LIMIT 1) FROM of_batches t
  WHERE t.id IS NOT NULL
), of_links (id) AS (
  (SELECT tenant_id FROM links ORDER BY tenant_id LIMIT 1)
  UNION ALL
  SELECT (SELECT l.tenant_id FROM links l WHERE l.tenant_id > t.id ORDER BY l.tenant_id LIMIT 1) FROM of_links t
  WHERE t.id IS NOT NULL
)
SELECT id::text FROM of_batches WHERE id IS NOT NULL UNION SELECT id::text FROM of_links WHERE id IS NOT NULL`

// Tenants returns the ids of all tenants that have had links.
func Tenants(ctx context.Context, db postgres.Querier) ([]string, error) {
	return postgres.Select(ctx, db, "list tenants", pgx.RowTo[string], selectTenants)
}
