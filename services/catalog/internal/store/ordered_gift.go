package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Whether the images are public does not depend on what the tenant of a sandbox has changed.
const selectOrderedGift = `SELECT ` + giftView + `, EXISTS (SELECT FROM products p WHERE p.id = $2 AND ` + picturesOpen + `)
FROM {gifts} p WHERE p.id = $2`

var orderedGift = reading(selectOrderedGift, 2)

// OrderedGift returns a gift in any state, without images that the public may not see. Each text is in the first of the locales that
// has it, or else in en-US.
func (s *Store) OrderedGift(ctx context.Context, tenantID, id string, locales ...string) (GiftView, bool, error) {
	sql, args := s.of(tenantID, orderedGift, locales, id)
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return GiftView{}, false, fmt.Errorf("read gift: %w", err)
	}
	var pictured bool
	g, err := pgx.CollectExactlyOneRow(rows, func(row pgx.CollectableRow) (GiftView, error) { return scanGiftView(row, locales, &pictured) })
	if errors.Is(err, pgx.ErrNoRows) {
		return GiftView{}, false, nil
	}
	if err != nil {
		return GiftView{}, false, fmt.Errorf("read gift: %w", err)
	}
	if !pictured {
		g.Images = nil
	}
	return g, true, nil
}
