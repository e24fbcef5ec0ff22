package relay

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/postgres"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const (
	// No index serves the times: the rows are read once, in the order of their ids.
	confirmedInSpan = `SELECT ` + columns + ` FROM outbox
WHERE id > $1 AND confirmed_at IS NOT NULL AND recorded_at >= $2 AND recorded_at < $3
ORDER BY id LIMIT $4`

	readConfirmedBatch = 500
)

// ReadConfirmed reads the changes of a time span that the outbox has kept although all readers have stored them. It passes them
// to a handler in their order.
func ReadConfirmed(
	ctx context.Context, s Source, from, before time.Time, handle func(ctx context.Context, changes []*eventsv1.Change) error,
) error {
	conn, err := postgres.Connect(ctx, s.URL)
	if err != nil {
		return fmt.Errorf("open source %s: %w", s.Name, err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for last := int64(0); ; {
		rows, err := conn.Query(ctx, confirmedInSpan, last, from, before, readConfirmedBatch)
		if err != nil {
			return fmt.Errorf("read source %s: %w", s.Name, err)
		}
		kept, err := pgx.CollectRows(rows, func(c pgx.CollectableRow) (row, error) { return scanRow(c, nil) })
		if err != nil {
			return fmt.Errorf("read source %s: %w", s.Name, err)
		}
		var changes []*eventsv1.Change
		for _, r := range kept {
			last = r.id
			r.change.RecordedAt = timestamppb.New(r.recordedAt)
			changes = append(changes, r.change)
		}
		if len(changes) > 0 {
			if err := handle(ctx, changes); err != nil {
				return err
			}
		}
		if len(kept) < readConfirmedBatch {
			return nil
		}
	}
}
