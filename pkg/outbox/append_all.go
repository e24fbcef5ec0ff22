package outbox

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/telemetry"
)

// The rows are numbered in the order of the events.
const insertAll = `INSERT INTO outbox
  (event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, traceparent)
SELECT event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, $9::text
FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::int[], $7::timestamptz[], $8::bytea[])
  WITH ORDINALITY AS x (event_id, tenant_id, brand_id, subject_id, type, origin_key_id, occurred_at, data, n)
ORDER BY n`

// AppendAll is Append for many events, in their order, as one statement.
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
