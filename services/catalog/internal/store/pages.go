package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// View is what a reader asks for.
type View struct {
	Country  string
	Locale   string
	Currency string
}

// Entry is a gift as one reader sees it.
type Entry struct {
	ID     string
	Listed bool
	Text   rules.Text
	// Available: the gift can be supplied to the reader's country.
	Available bool
	// AmountEUR is nil without a price for the country's region.
	AmountEUR *string
	// Rate of the reader's currency is nil when the catalog has none.
	Rate                   *string
	Variations             []rules.Variation
	Categories             []string
	ImageFileIDs           []string
	CustomizationAvailable bool
	GiftSet                bool
	ReadyToSend            bool
	UpdatedAt              time.Time
}

const (
	// $1 country, $2 locale, $3 currency. The subqueries without p run once per statement.
	selectEntries = `SELECT p.id::text, p.state = 'PUBLISHED',
  coalesce(p.translations->$2->>'name', p.name),
  coalesce(nullif(p.translations->$2->>'description', ''), p.description),
  $1 = ANY(p.available_countries),
  (SELECT amount_eur::text FROM product_prices
    WHERE product_id = p.id AND region = (SELECT region FROM region_countries WHERE country = $1)),
  (SELECT rate::text FROM exchange_rates WHERE currency = $3),
  p.variations, p.categories, p.image_file_ids, p.customization_available, p.gift_set, p.ready_to_send, p.updated_at
FROM products p`

	selectListed = selectEntries + ` WHERE p.state = 'PUBLISHED' AND p.id > $4 ORDER BY p.id LIMIT $5`

	selectChanged = selectEntries + ` WHERE p.published_once AND (p.updated_at, p.id) > ($4, $5)
ORDER BY p.updated_at, p.id LIMIT $6`

	selectEntry = selectEntries + ` WHERE p.state = 'PUBLISHED' AND p.id = $4`
)

// Listed gives listed gifts after an id, by id.
func (s *Store) Listed(ctx context.Context, v View, after string, limit int) ([]Entry, error) {
	return s.entries(ctx, selectListed, v.Country, v.Locale, v.Currency, after, limit)
}

// Changed gives gifts that changed after a position, in the order of the changes, with those that
// left the catalog.
func (s *Store) Changed(ctx context.Context, v View, after cursor.Position, limit int) ([]Entry, error) {
	return s.entries(ctx, selectChanged, v.Country, v.Locale, v.Currency, after.Time, after.ID, limit)
}

// Entry gives a listed gift; none: nothing.
func (s *Store) Entry(ctx context.Context, v View, id string) (Entry, bool, error) {
	found, err := s.entries(ctx, selectEntry, v.Country, v.Locale, v.Currency, id)
	if err != nil || len(found) == 0 {
		return Entry{}, false, err
	}
	return found[0], true, nil
}

func (s *Store) entries(ctx context.Context, sql string, args ...any) ([]Entry, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read gifts: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (Entry, error) {
		var e Entry
		err := row.Scan(&e.ID, &e.Listed, &e.Text.Name, &e.Text.Description, &e.Available, &e.AmountEUR, &e.Rate,
			&e.Variations, &e.Categories, &e.ImageFileIDs, &e.CustomizationAvailable, &e.GiftSet, &e.ReadyToSend, &e.UpdatedAt)
		return e, err
	})
}
