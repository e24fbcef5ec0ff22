package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/pkg/postgres"
)

// Missing returns the events of the batch that the feed does not have and that are not past retention.
func (s *Store) Missing(ctx context.Context, b Batch) ([]Change, error) {
	p := &pendingBatch{Batch: b, redrive: true}
	w := newWriters(1)
	read := &pgx.Batch{}
	s.queueKnown(read, []*pendingBatch{p}, w)
	if err := s.pool.SendBatch(ctx, read).Close(); err != nil {
		return nil, fmt.Errorf("look for events in the feed: %w", err)
	}
	w.stored[b.Partition] = kafka.Stored{} // Nothing is written, so no lock is needed.
	return w.admit(p), nil
}

// Redrive appends the events of the batch that the feed does not have and that are not past retention, at the end of the feed.
// It does not change the stored offset.
func (s *Store) Redrive(ctx context.Context, b Batch) (Appended, error) {
	if len(b.Changes) == 0 {
		return Appended{}, nil
	}
	p := &pendingBatch{Batch: b, redrive: true}
	if err := s.appends.Do(ctx, p); err != nil {
		return Appended{}, fmt.Errorf("append to feed: %w", err)
	}
	if p.refused {
		return Appended{}, fmt.Errorf("partition %d: %w", b.Partition, ErrNoTopic)
	}
	return p.done, nil
}

const forgetTopic = `UPDATE feed_writers
   SET next_offset = -1, last_id = '', last_time = NULL, last_day = (SELECT max(last_day) FROM feed_writers)`

// ForgetTopic forgets the stored offsets and the number of partitions, so that the feed can read another topic.
func (s *Store) ForgetTopic(ctx context.Context) error {
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(forgetTopic)
		b.Queue("DELETE FROM feed_topic")
	})
	if err != nil {
		return fmt.Errorf("forget the topic: %w", err)
	}
	return nil
}
