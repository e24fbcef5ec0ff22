package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// decideAbandoned gives up the orders that were not placed and tells for each what was decided
// first. Its insert waits for an order that is committing under the same id.
const decideAbandoned = `INSERT INTO reservation_outcomes (order_id, outcome)
SELECT id, 'ABANDONED' FROM unnest($1::uuid[]) AS id ORDER BY id
ON CONFLICT (order_id) DO NOTHING`

const selectOutcomes = `SELECT order_id, outcome = 'PLACED' FROM reservation_outcomes WHERE order_id = ANY($1::uuid[])`

// Abandon makes sure that none of the orders will be placed any more, and tells which already were.
func (s *Store) Abandon(ctx context.Context, orderIDs []string) (placed, abandoned []string, err error) {
	if _, err := s.pool.Exec(ctx, decideAbandoned, orderIDs); err != nil {
		return nil, nil, fmt.Errorf("abandon reservations: %w", err)
	}
	rows, err := s.pool.Query(ctx, selectOutcomes, orderIDs)
	if err != nil {
		return nil, nil, fmt.Errorf("read reservation outcomes: %w", err)
	}
	var id string
	var wasPlaced bool
	_, err = pgx.ForEachRow(rows, []any{&id, &wasPlaced}, func() error {
		if wasPlaced {
			placed = append(placed, id)
		} else {
			abandoned = append(abandoned, id)
		}
		return nil
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read reservation outcomes: %w", err)
	}
	return placed, abandoned, nil
}
