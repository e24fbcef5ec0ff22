package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// View is the country, locale and currency of a reader.
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
	// Available reports whether the gift can be supplied to the reader's country.
	Available bool
	// AmountEUR is nil without a price for the country's region.
	AmountEUR *string
	// Rate of the reader's currency is nil if the catalog has none.
	Rate                   *string
	Variations             []rules.Variation
	Categories             []string
	Images                 []rules.ShownImage
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
  p.variations, p.categories, p.images, p.customization_available, p.gift_set, p.ready_to_send, p.updated_at
FROM products p`

	selectNewest = `SELECT coalesce(max(updated_at), '0001-01-01Z') FROM products WHERE published_once`

	selectFirstListed = selectEntries + ` WHERE p.state = 'PUBLISHED' ORDER BY p.id`

	// The subquery is the earliest updated_at after the start of the load.
	selectListed = selectEntries + ` WHERE p.state = 'PUBLISHED' AND p.id > $4
  AND p.updated_at <= coalesce(
    (SELECT min(updated_at) FROM products WHERE published_once AND updated_at > $5) + interval '4 minutes', 'infinity')
ORDER BY p.id`

	selectChanged = selectEntries + ` WHERE p.published_once AND (p.updated_at, p.id) > ($4, $5)
ORDER BY p.updated_at, p.id`

	selectEntry = selectEntries + ` WHERE p.state = 'PUBLISHED' AND p.id = $4`
)

// FirstListed reads the first page of a load by id, and the start of the load: the newest change that the load certainly
// includes.
func (s *Store) FirstListed(ctx context.Context, v View, limit int) ([]Entry, time.Time, error) {
	var start time.Time
	var found []Entry
	b := &pgx.Batch{}
	// It runs first, so that a change between the two statements is later than the start.
	b.Queue(selectNewest).QueryRow(func(row pgx.Row) error { return row.Scan(&start) })
	b.Queue(limited(selectFirstListed, limit), v.Country, v.Locale, v.Currency).Query(func(rows pgx.Rows) (err error) {
		found, err = pgx.CollectRows(rows, scanEntry)
		return err
	})
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, time.Time{}, fmt.Errorf("read gifts: %w", err)
	}
	return found, start, nil
}

// Listed continues a load after an id. The next sync asks for changes since five minutes before the newest
// updated_at of the load. So the load leaves out gifts that changed more than four minutes after the first
// change since its start; the fifth minute is for readers who round. That sync then finds every change
// since the start, including those of the gifts left out, however long the load takes.
func (s *Store) Listed(ctx context.Context, v View, start time.Time, after string, limit int) ([]Entry, error) {
	return s.entries(ctx, limited(selectListed, limit), v.Country, v.Locale, v.Currency, after, start)
}

// Changed reads gifts that changed after a position, in the order of the changes, including unlisted ones.
func (s *Store) Changed(ctx context.Context, v View, after cursor.Position, limit int) ([]Entry, error) {
	return s.entries(ctx, limited(selectChanged, limit), v.Country, v.Locale, v.Currency, after.Time, after.ID)
}

// Entry reads a listed gift.
func (s *Store) Entry(ctx context.Context, v View, id string) (Entry, bool, error) {
	found, err := s.entries(ctx, selectEntry, v.Country, v.Locale, v.Currency, id)
	if err != nil || len(found) == 0 {
		return Entry{}, false, err
	}
	return found[0], true, nil
}

// limited writes the limit into the statement. With a parameter the planner would not know how few rows are read and would plan
// each page again, which takes a third of its time. There are few limits, so there are few prepared statements.
func limited(sql string, limit int) string { return sql + " LIMIT " + strconv.Itoa(limit) }

func (s *Store) entries(ctx context.Context, sql string, args ...any) ([]Entry, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read gifts: %w", err)
	}
	return pgx.CollectRows(rows, scanEntry)
}

func scanEntry(row pgx.CollectableRow) (Entry, error) {
	var e Entry
	err := row.Scan(&e.ID, &e.Listed, &e.Text.Name, &e.Text.Description, &e.Available, &e.AmountEUR, &e.Rate,
		&e.Variations, &e.Categories, &e.Images, &e.CustomizationAvailable, &e.GiftSet, &e.ReadyToSend, &e.UpdatedAt)
	return e, err
}
