package store

import (
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
		c := columnsOf(changes)
		b.Queue(insertRows, day, c.tenants, c.ids, c.types, c.brands, c.subjects, c.origins,
			c.occurred, c.recorded, c.data)
	}
	var (
		moved []int
		next  []int64
	)
	for partition, offset := range nextOffsets {
		moved, next = append(moved, partition), append(next, offset)
	}
	b.Queue(moveWriters, moved, next, day)
}

// columns are the changes as arrays, one per column.
type columns struct {
	tenants, ids, brands, subjects postgres.UUIDs
	types                          []string
	origins                        []int32
	occurred, recorded             []time.Time
	data                           [][]byte
}

func columnsOf(changes []Change) columns {
	var c columns
	for _, ch := range changes {
		c.tenants = append(c.tenants, ch.TenantID)
		c.ids = append(c.ids, ch.ID)
		c.types = append(c.types, ch.Type)
		c.brands = append(c.brands, ch.BrandID)
		c.subjects = append(c.subjects, ch.SubjectID)
		c.origins = append(c.origins, ch.OriginKeyID)
		c.occurred = append(c.occurred, ch.OccurredAt)
		c.recorded = append(c.recorded, ch.RecordedAt)
		data := ch.Data
		if data == nil {
			data = []byte{} // Nil would be NULL.
		}
		c.data = append(c.data, data)
	}
	return c
}
