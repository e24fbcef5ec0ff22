//go:build planted

package store

import (
	"context"
	"math/rand/v2"
	"os"
)

const (
	oversoldIn = 5

	putBack = `UPDATE skus SET stock = stock + r.units FROM reservations r WHERE r.sku_id = skus.id AND r.order_id = $1`
)

// sabotage puts a unit back at times although it is reserved, when PLANTED_BUG is oversell.
func (s *Store) sabotage(ctx context.Context, r Reservation) error {
	if os.Getenv("PLANTED_BUG") != "oversell" || rand.N(oversoldIn) > 0 { //nolint:gosec // Any unit will do.
		return nil
	}
	_, err := s.pool.Exec(ctx, putBack, r.OrderID)
	return err
}
