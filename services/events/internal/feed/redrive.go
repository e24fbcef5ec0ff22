package feed

import (
	"context"
	"time"

	"github.com/partnergifting/platform/pkg/kafka"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// Redriven is the result of a redrive of one partition.
type Redriven struct {
	Partition int   `json:"partition"`
	From      int64 `json:"fromOffset"`
	To        int64 `json:"toOffset"`
	Messages  int   `json:"messages"`
	// Missing events were not in the feed. They have been appended unless it was a dry run.
	Missing int `json:"missing"`
	// Invalid messages are not changes.
	Invalid int `json:"invalid"`
}

// Redrive reads a part of a partition and appends the events that the feed does not have, or only counts them.
func Redrive(
	ctx context.Context, s *store.Store, cfg kafka.Config, topic string, span kafka.Span, retention time.Duration, dryRun bool,
) (Redriven, error) {
	done := Redriven{Partition: span.Partition, From: span.From, To: span.To}
	err := kafka.ReadSpan(ctx, cfg, topic, span, func(ctx context.Context, msgs []kafka.Message) error {
		batch := store.Batch{Partition: span.Partition, Retention: retention}
		done.Messages += len(msgs)
		for _, m := range msgs {
			c, err := decode(m)
			if err != nil {
				done.Invalid++
				continue
			}
			batch.Changes = append(batch.Changes, c)
		}
		if len(batch.Changes) == 0 {
			return nil
		}
		if dryRun {
			missing, err := s.Missing(ctx, batch)
			done.Missing += len(missing)
			return err
		}
		appended, err := s.Redrive(ctx, batch)
		done.Missing += appended.Inserted
		return err
	})
	return done, err
}
