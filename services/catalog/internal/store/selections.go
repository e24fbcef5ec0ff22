package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	selectHead = `SELECT ` + campaignHead + ` FROM campaigns c WHERE c.tenant_id = $1 AND c.id = $2`

	selectStates = `SELECT p.id::text, p.state FROM {gifts} p WHERE p.id = ANY($1::uuid[])`

	selectGiftViews = `SELECT ` + giftView + ` FROM {gifts} p
WHERE p.id = ANY($2::uuid[]) AND p.state = 'PUBLISHED'
ORDER BY array_position($2::uuid[], p.id)`
)

var (
	states    = reading(selectStates, 1)
	giftViews = reading(selectGiftViews, 2)
)

// CampaignHead reads a campaign of a tenant without its offerings.
func (s *Store) CampaignHead(ctx context.Context, tenantID, id string) (CampaignHead, bool, error) {
	var c CampaignHead
	err := s.pool.QueryRow(ctx, selectHead, tenantID, id).Scan(c.columns()...)
	if errors.Is(err, pgx.ErrNoRows) {
		return CampaignHead{}, false, nil
	}
	if err != nil {
		return CampaignHead{}, false, fmt.Errorf("read campaign: %w", err)
	}
	return c, true, nil
}

// States returns the states of the gifts that exist among the ids.
func (s *Store) States(ctx context.Context, tenantID string, ids []string) (map[string]rules.State, error) {
	sql, args := s.of(tenantID, states, ids)
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read states of gifts: %w", err)
	}
	found := map[string]rules.State{}
	return found, into(found)(rows)
}

// GiftViews returns the published gifts among the ids, in the order of the ids. Each text is in the first of the locales that has
// it, or else in en-US.
func (s *Store) GiftViews(ctx context.Context, tenantID string, ids []string, locales ...string) ([]GiftView, error) {
	sql, args := s.of(tenantID, giftViews, locales, ids)
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read gifts: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (GiftView, error) { return scanGiftView(row, locales) })
}

// scanGiftView reads giftView, and the further columns of the statement into more.
func scanGiftView(row pgx.CollectableRow, locales []string, more ...any) (GiftView, error) {
	var g GiftView
	var translations map[string]rules.Text
	err := row.Scan(append(append([]any{&g.ProductID}, g.columns(&translations)...), more...)...)
	g.Text = rules.TextIn(g.Text, translations, locales)
	return g, err
}

const (
	suspendAll = `UPDATE offerings SET status = 'NEEDS_REVIEW' WHERE product_id = $1 AND status = 'ACTIVE'`

	suspendIn = suspendAll + ` AND campaign_id = ANY($2::uuid[])`

	selectOffered = `SELECT s.campaign_id::text, s.variations
FROM offerings o
JOIN skus s ON s.tenant_id = o.tenant_id AND s.campaign_id = o.campaign_id AND s.product_id = o.product_id
WHERE o.product_id = $1 AND o.status = 'ACTIVE' AND s.offered`
)

// suspendOfferings suspends the gift in campaigns that can no longer offer it: it left the catalog, or lost an offered
// combination. The review is to put the campaign again.
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
		variations = nil // Otherwise the decoder would add to the map of the previous row.
		return nil
	})
	if err != nil {
		return fmt.Errorf("read offered combinations: %w", err)
	}
	_, err = tx.Exec(ctx, suspendIn, after.ID, unfit)
	return err
}
