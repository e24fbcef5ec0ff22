package store

import (
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
)

const (
	// The inner query is sorted before the outer one takes values from the sequence, so that
	// positions follow the order of the arrays.
	insertRows = `WITH inserted AS (
  INSERT INTO feed (tenant_id, day, position, event_id, type, brand_id, subject_id, origin_key_id,
    occurred_at, recorded_at, data)
  SELECT tenant_id, $1::date, nextval('feed_position'), event_id, type, brand_id, subject_id,
    origin_key_id, occurred_at, recorded_at, data
  FROM (
    SELECT tenant_id, event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at, data
    FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::uuid[], $6::uuid[], $7::int[],
      $8::timestamptz[], $9::timestamptz[], $10::bytea[]) WITH ORDINALITY
      AS r (tenant_id, event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at, data, n)
    ORDER BY n
  ) ordered
  RETURNING tenant_id, position
)
INSERT INTO feed_tenants (tenant_id, last_position)
SELECT tenant_id, max(position) FROM inserted GROUP BY tenant_id
ON CONFLICT (tenant_id) DO UPDATE SET last_position = excluded.last_position`

	moveWriters = `UPDATE feed_writers w SET next_offset = m.next, last_day = $3
  FROM unnest($1::int[], $2::bigint[]) AS m (kafka_partition, next)
 WHERE w.kafka_partition = m.kafka_partition`
)

// queueInsert adds the changes in their order and moves the writers.
func queueInsert(b *pgx.Batch, changes []Change, day time.Time, nextOffsets map[int]int64) {
	if len(changes) > 0 {
		b.Queue(insertRows, day,
			postgres.UUIDColumn(changes, func(c Change) string { return c.GetTenantId() }),
			postgres.UUIDColumn(changes, func(c Change) string { return c.GetEventId() }),
			postgres.Column(changes, func(c Change) string { return c.GetType() }),
			postgres.UUIDColumn(changes, func(c Change) string { return c.GetBrandId() }),
			postgres.UUIDColumn(changes, func(c Change) string { return c.GetSubjectId() }),
			postgres.Column(changes, func(c Change) int32 { return c.GetOriginKeyId() }),
			postgres.Column(changes, func(c Change) time.Time { return c.GetOccurredAt().AsTime() }),
			postgres.Column(changes, func(c Change) time.Time { return c.GetRecordedAt().AsTime() }),
			postgres.Column(changes, func(c Change) []byte { return notNil(c.GetData()) }))
	}
	partitions := slices.Collect(maps.Keys(nextOffsets))
	b.Queue(moveWriters, partitions, postgres.Column(partitions, func(p int) int64 { return nextOffsets[p] }), day)
}
