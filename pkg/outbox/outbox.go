// Package outbox records a change in the transaction that makes it, for the relay to publish
// (API specification, section Events).
//
// The rows of a change are inserted last in its transaction, after the record's row is locked. So a later change of a record
// has a later recorded_at and becomes visible later, which keeps the feed in order. The outbox is the only table that another
// service may access: the relay reads and deletes its rows.
package outbox

import (
	"context"
	"embed"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/telemetry"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the outbox table.
func Migrations() postgres.Migrations {
	return postgres.Embedded("outbox", files)
}

// Sealed are the sealed members of the events in the outbox, for the check of the ring.
func Sealed() seal.SealedValues { return seal.StoredEvents("outbox", "data") }

// Event is one change of one record.
type Event struct {
	// ID is a UUIDv7, by which consumers drop duplicates.
	ID       string
	Type     string
	TenantID string
	BrandID  string
	// SubjectID is the order or personal link that changed.
	SubjectID string
	// OriginKeyID is the API key whose request made the change; 0 if none did.
	OriginKeyID int32
	// OccurredAt equals the record's updatedAt after the change.
	OccurredAt time.Time
	// Data is a JSON snapshot of the record after the change. Texts of messages and claim URLs are sealed in it (package seal).
	Data []byte
}

const insert = `INSERT INTO outbox
  (event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, traceparent)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`

// Append queues the insert of e. The record does not change after it in the transaction.
func Append(ctx context.Context, b *pgx.Batch, e Event) {
	markAppended(ctx)
	b.Queue(insert, e.ID, e.TenantID, e.BrandID, e.SubjectID, e.Type, e.OriginKeyID, e.OccurredAt,
		e.Data, telemetry.TraceParent(ctx))
}

// The rows are numbered in the order of the events.
const insertAll = `INSERT INTO outbox
  (event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, traceparent)
SELECT event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, $9::text
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::int[], $7::timestamptz[], $8::bytea[])
  WITH ORDINALITY AS x (event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, n)
ORDER BY n`

// AppendAll is Append for many events, inserted in their order by one statement.
func AppendAll(ctx context.Context, b *pgx.Batch, events []Event) {
	if len(events) == 0 {
		return
	}
	markAppended(ctx)
	var ids, tenants, brands, subjects postgres.UUIDs
	var types []string
	var origins []int32
	var occurred []time.Time
	var data [][]byte
	for _, e := range events {
		ids, tenants, brands = append(ids, e.ID), append(tenants, e.TenantID), append(brands, e.BrandID)
		subjects, types, origins = append(subjects, e.SubjectID), append(types, e.Type), append(origins, e.OriginKeyID)
		occurred, data = append(occurred, e.OccurredAt), append(data, e.Data)
	}
	b.Queue(insertAll, ids, tenants, brands, subjects, types, origins, occurred, data, telemetry.TraceParent(ctx))
}

// A row that is kept after the readers have stored its event is confirmed.
const countUnpublished = `SELECT count(*) FROM outbox
 WHERE tenant_id = $1 AND subject_id = ANY($2::uuid[]) AND confirmed_at IS NULL`

// Unpublished returns how many events of the records the feed and the webhook service may not have stored yet.
func Unpublished(ctx context.Context, pool *pgxpool.Pool, tenantID string, subjectIDs []string) (n int64, err error) {
	if err := pool.QueryRow(ctx, countUnpublished, tenantID, postgres.UUIDs(subjectIDs)).Scan(&n); err != nil {
		return 0, fmt.Errorf("count unpublished events: %w", err)
	}
	return n, nil
}
