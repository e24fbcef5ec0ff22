package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/kafka"
)

// Offsets are the stored offsets of the fan-out, for its consumer. It implements kafka.Offsets.
type Offsets struct{ *Store }

const (
	// A partition without a row continues where the group has committed. Otherwise all events that Kafka has would be sent again by a
	// database that was made anew, which has no events. Where that is not known, no row is made: it would hide the fact.
	adoptOffset = `WITH adopted AS (
  INSERT INTO fan_out_offsets (kafka_partition, next_offset) SELECT $1, $2::bigint WHERE $2 >= 0
  ON CONFLICT (kafka_partition) DO NOTHING
  RETURNING next_offset, last_id, last_time
)
SELECT next_offset, last_id, last_time, next_offset > 0 AND NOT EXISTS (SELECT FROM events) FROM adopted
UNION ALL
SELECT next_offset, last_id, last_time, false FROM fan_out_offsets WHERE kafka_partition = $1
LIMIT 1`

	// A partition without a row has offset -1.
	moveOffset = `INSERT INTO fan_out_offsets AS o (kafka_partition, next_offset)
SELECT $1, $3 WHERE $2::bigint < 0 OR EXISTS (SELECT FROM fan_out_offsets WHERE kafka_partition = $1)
ON CONFLICT (kafka_partition) DO UPDATE SET next_offset = excluded.next_offset, last_id = '', last_time = NULL
WHERE o.next_offset = $2`
)

// nothingStored is the offset of a partition of which nothing has been stored.
const nothingStored = -1

var errMoved = errors.New("the stored offset has moved")

// Stored implements kafka.Offsets.
func (o Offsets) Stored(ctx context.Context, partition int, reached int64) (kafka.Stored, error) {
	stored := kafka.Stored{Next: nothingStored}
	var last *time.Time
	err := o.pool.QueryRow(ctx, adoptOffset, partition, reached).Scan(&stored.Next, &stored.LastID, &last, &stored.Emptied)
	if err != nil && (reached >= 0 || !errors.Is(err, pgx.ErrNoRows)) { // Another reader may have made the row just now.
		return stored, fmt.Errorf("read stored offset: %w", err)
	}
	if last != nil {
		stored.LastTime = *last
	}
	return stored, nil
}

// Move implements kafka.Offsets.
func (o Offsets) Move(ctx context.Context, partition int, from, to int64) error {
	tag, err := o.pool.Exec(ctx, moveOffset, partition, from, to)
	if err == nil && tag.RowsAffected() == 0 {
		err = errMoved
	}
	if err != nil {
		return fmt.Errorf("move stored offset: %w", err)
	}
	return nil
}

// flushLog is a transaction that waits for the disk, and with it for all that was committed before: the write-ahead log has one
// order.
const flushLog = `SELECT pg_logical_emit_message(true, 'durable', '')`

// Durable implements kafka.Offsets.
func (o Offsets) Durable(ctx context.Context) error {
	if _, err := o.pool.Exec(ctx, flushLog); err != nil {
		return fmt.Errorf("wait until deliveries are on disk: %w", err)
	}
	return nil
}
