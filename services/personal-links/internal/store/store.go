// Package store keeps personal links in PostgreSQL.
package store

import (
	"context"
	"embed"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
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

// updated_at of an ended link is when it ended, or when it was erased, which leaves no details.
const eraseDetails = `UPDATE links SET details_sealed = NULL WHERE (tenant_id, id) IN (
  SELECT tenant_id, id FROM links
  WHERE details_sealed IS NOT NULL AND status IN ('CLAIMED', 'EXPIRED', 'CANCELLED') AND updated_at < now() - $1::interval
  ORDER BY updated_at LIMIT $2 FOR UPDATE SKIP LOCKED)`

// EraseDetails erases the details of up to limit links that ended longer ago than the retention by the database's clock, and
// returns how many. Several instances share the work.
func (s *Store) EraseDetails(ctx context.Context, retention time.Duration, limit int) (int, error) {
	return postgres.Exec(ctx, s.pool, "erase details", eraseDetails, retention, limit)
}

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, ring *seal.Ring) tenants.Database {
	return tenants.Database{
		Pool: pool, Ring: ring,
		Tables: []tenants.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{Name: "sandbox_claims", Key: []string{"link_id uuid"}, Hidden: true},
			{
				Name: "links", Key: []string{"id uuid"}, Omit: []string{"token_hash", "reopen_tries", "reopen_after"},
				Sealed: sealedLinks().Columns, Text: []string{"claim_url_sealed", "reason_sealed"},
			},
			// After the links: without its link, no draft can be stored. The tenant never gets what a player enters.
			{Name: "form_drafts", Key: []string{"id uuid"}, Hidden: true},
			{Name: "link_batches", Key: []string{"id uuid"}},
			{Name: "outbox", Key: []string{"id bigint"}, Hidden: true}, // Last, since only all of it can be read.
			{Name: "link_audit", Key: []string{"link_id uuid", "id bigint"}, Kept: "audit without personal data", Hidden: true},
		},
		InFlight: []string{
			// Claims that are placing an order.
			`SELECT count(*) FROM links WHERE tenant_id = $1 AND claim_order_id IS NOT NULL`,
			// Changes that the readers have not stored.
			`SELECT count(*) FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL`,
		},
	}
}
