package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/kafka"
)

// Offsets are the stored offsets of the feed, for its consumer. It implements kafka.Offsets.
type Offsets struct{ *Store }

const (
	storedColumns = `next_offset, last_id, last_time`

	selectStored = `SELECT ` + storedColumns + ` FROM feed_writers WHERE kafka_partition = $1`

	// A partition without a row has offset -1.
	moveOffset = `INSERT INTO feed_writers AS w (kafka_partition, next_offset, last_day)
SELECT $1, $3, (SELECT coalesce(max(last_day), 'epoch') FROM feed_writers)
 WHERE $2::bigint < 0 OR EXISTS (SELECT FROM feed_writers WHERE kafka_partition = $1)
ON CONFLICT (kafka_partition) DO UPDATE SET next_offset = excluded.next_offset, last_id = '', last_time = NULL
WHERE w.next_offset = $2`
)

// nothingStored is the offset of a partition of which nothing has been stored.
const nothingStored = -1

var errMoved = errors.New("the stored offset has moved")

// Stored implements kafka.Offsets. If the partition had reached more than is stored, the database has gone back to an earlier
// state, and an epoch begins before anything is appended.
func (o Offsets) Stored(ctx context.Context, partition int, reached int64) (kafka.Stored, error) {
	stored, err := o.stored(ctx, partition)
	if err != nil || stored.Next >= reached {
		return stored, err
	}
	reason := fmt.Sprintf("partition %d is stored up to offset %d but had reached %d", partition, stored.Next, reached)
	return stored, o.beginEpoch(ctx, reason)
}

func (s *Store) stored(ctx context.Context, partition int) (kafka.Stored, error) {
	stored := kafka.Stored{Next: nothingStored}
	err := scanStored(s.pool.QueryRow(ctx, selectStored, partition), &stored)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return stored, fmt.Errorf("read stored offset: %w", err)
	}
	return stored, nil
}

func scanStored(row pgx.Row, to *kafka.Stored, before ...any) error {
	var last *time.Time
	if err := row.Scan(append(before, &to.Next, &to.LastID, &last)...); err != nil {
		return err
	}
	if to.LastTime = (time.Time{}); last != nil {
		to.LastTime = *last
	}
	return nil
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

const pinPartitions = `WITH pinned AS (
  INSERT INTO feed_topic (partitions) VALUES ($1) ON CONFLICT DO NOTHING RETURNING partitions
)
SELECT partitions FROM pinned UNION ALL SELECT partitions FROM feed_topic LIMIT 1`

// CheckPartitions returns an error if the topic has another number of partitions than when it was first used: tenants would be
// in other partitions, and their later events could overtake earlier ones. The first call notes the number.
func (s *Store) CheckPartitions(ctx context.Context, count int) error {
	var pinned int
	if err := s.pool.QueryRow(ctx, pinPartitions, count).Scan(&pinned); err != nil {
		return fmt.Errorf("read number of partitions: %w", err)
	}
	if pinned != count {
		return fmt.Errorf("%w: the topic has %d, the feed was written from %d", kafka.ErrPartitionsChanged, count, pinned)
	}
	return nil
}

// ErrNoTopic means that the feed has never read a topic.
var ErrNoTopic = errors.New("the feed has not read its topic yet")

// Partitions returns the number of partitions when the topic was first used.
func (s *Store) Partitions(ctx context.Context) (count int, err error) {
	err = s.pool.QueryRow(ctx, "SELECT partitions FROM feed_topic").Scan(&count)
	if errors.Is(err, pgx.ErrNoRows) {
		return 0, ErrNoTopic
	}
	if err != nil {
		return 0, fmt.Errorf("read number of partitions: %w", err)
	}
	return count, nil
}

// Durable implements kafka.Offsets: every append waits for the disk.
func (Offsets) Durable(context.Context) error { return nil }
