package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	suspendAll = `UPDATE offerings SET status = 'NEEDS_REVIEW' WHERE product_id = $1 AND status = 'ACTIVE'`

	suspendIn = suspendAll + ` AND campaign_id = ANY($2::uuid[])`

	selectOffered = `SELECT s.campaign_id::text, s.variations
FROM offerings o
JOIN skus s ON s.tenant_id = o.tenant_id AND s.campaign_id = o.campaign_id AND s.product_id = o.product_id
WHERE o.product_id = $1 AND o.status = 'ACTIVE' AND s.offered`
)

// suspendOfferings suspends the gift in campaigns that can no longer offer it: it left the catalog, or no
// longer comes in an offered combination. Putting the campaign again is the review.
func suspendOfferings(ctx context.Context, tx pgx.Tx, before, after rules.Product) error {
	if before.Withdraws(after) {
		_, err := tx.Exec(ctx, suspendAll, after.ID)
		return err
	}
	if before.SameVariations(after) {
		return nil
	}
	rows, err := tx.Query(ctx, selectOffered, after.ID)
	if err != nil {
		return fmt.Errorf("read offered combinations: %w", err)
	}
	var unfit []string
	var campaign string
	var variations map[string]string
	_, err = pgx.ForEachRow(rows, []any{&campaign, &variations}, func() error {
		if !rules.Chosen(after.Variations, variations) {
			unfit = append(unfit, campaign)
		}
		variations = nil // The decoder would add to the map of the row before.
		return nil
	})
	if err != nil {
		return fmt.Errorf("read offered combinations: %w", err)
	}
	_, err = tx.Exec(ctx, suspendIn, after.ID, unfit)
	return err
}
