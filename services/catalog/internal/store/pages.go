package store

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// View is the tenant, country, locale and currency of a reader.
type View struct {
	TenantID string
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

// selected is the only use: every statement reads all columns.
const selected postgres.Use = 1

// Arguments: $1 country, $2 locale, $3 currency. The subqueries without p run once per statement.
var entries = postgres.Columns[Entry]{
	postgres.Field("p.id", selected, func(e *Entry) *string { return &e.ID }).Cast("", "::text"),
	postgres.Field("p.state = 'PUBLISHED'", selected, func(e *Entry) *bool { return &e.Listed }),
	postgres.Field("coalesce(p.translations->$2->>'name', p.name)", selected, func(e *Entry) *string { return &e.Text.Name }),
	postgres.Field("coalesce(nullif(p.translations->$2->>'description', ''), p.description)", selected,
		func(e *Entry) *string { return &e.Text.Description }),
	postgres.Field("$1 = ANY(p.available_countries)", selected, func(e *Entry) *bool { return &e.Available }),
	postgres.Field(`(SELECT amount_eur::text FROM product_prices
    WHERE product_id = p.id AND region = (SELECT region FROM region_countries WHERE country = $1))`, selected,
		func(e *Entry) **string { return &e.AmountEUR }),
	postgres.Field("(SELECT rate::text FROM exchange_rates WHERE currency = $3)", selected,
		func(e *Entry) **string { return &e.Rate }),
	postgres.Field("p.variations", selected, func(e *Entry) *[]rules.Variation { return &e.Variations }),
	postgres.Field("p.categories", selected, func(e *Entry) *[]string { return &e.Categories }),
	postgres.Field("p.images", selected, func(e *Entry) *[]rules.ShownImage { return &e.Images }),
	postgres.Field("p.customization_available", selected, func(e *Entry) *bool { return &e.CustomizationAvailable }),
	postgres.Field("p.gift_set", selected, func(e *Entry) *bool { return &e.GiftSet }),
	postgres.Field("p.ready_to_send", selected, func(e *Entry) *bool { return &e.ReadyToSend }),
	postgres.Field("p.updated_at", selected, func(e *Entry) *time.Time { return &e.UpdatedAt }),
}

var selectEntries = `SELECT ` + entries.Select() + ` FROM {gifts} p`

// The statements. The last parameter of newStatement is the number of a statement's arguments. A load is the reading of all listed
// gifts, page by page, in the order of their ids.
var (
	newest = newStatement(`SELECT coalesce(max(p.updated_at), '0001-01-01Z') FROM {gifts} p WHERE p.published_once`, 0)

	firstListed = newStatement(selectEntries+` WHERE p.state = 'PUBLISHED' ORDER BY p.id`, 3)

	// The subquery is the earliest updated_at after the start of the load.
	listed = newStatement(selectEntries+` WHERE p.state = 'PUBLISHED' AND p.id > $4
  AND p.updated_at <= coalesce(
    (SELECT min(n.updated_at) FROM {gifts} n WHERE n.published_once AND n.updated_at > $5) + interval '4 minutes', 'infinity')
ORDER BY p.id`, 5)

	changed = newStatement(selectEntries+` WHERE p.published_once AND (p.updated_at, p.id) > ($4, $5)
ORDER BY p.updated_at, p.id`, 5)

	entry = newStatement(selectEntries+` WHERE p.state = 'PUBLISHED' AND p.id = $4`, 4)
)

// FirstListed reads the first page of a load, and the start of the load: the time of the newest change that the load certainly
// includes.
func (s *Store) FirstListed(ctx context.Context, v View, limit int) ([]Entry, time.Time, error) {
	var start time.Time
	var found []Entry
	b := &pgx.Batch{}
	// This statement runs first, so that a change between the two statements is later than the start.
	sql, args := s.forTenant(v.TenantID, newest)
	b.Queue(sql, args...).QueryRow(func(row pgx.Row) error { return row.Scan(&start) })
	sql, args = s.forTenant(v.TenantID, firstListed, v.Country, v.Locale, v.Currency)
	postgres.QueueSelect(b, &found, scanEntry, limited(sql, limit), args...)
	if err := s.pool.SendBatch(ctx, b).Close(); err != nil {
		return nil, time.Time{}, fmt.Errorf("read gifts: %w", err)
	}
	return found, start, nil
}

// Listed continues a load after an id. Gifts may change during a load. The sync after it asks for the changes since five minutes
// before the newest updated_at of the load, and must find every change since the start of the load, however long the load takes. So
// the load must not include a gift that changed more than five minutes after the first of these changes. It leaves such gifts to
// the sync. The limit is four minutes, because some callers round times.
func (s *Store) Listed(ctx context.Context, v View, start time.Time, after string, limit int) ([]Entry, error) {
	sql, args := s.forTenant(v.TenantID, listed, v.Country, v.Locale, v.Currency, after, start)
	return postgres.Select(ctx, s.pool, "read gifts", scanEntry, limited(sql, limit), args...)
}

// Changed reads gifts that changed after a position, in the order of the changes, including unlisted ones.
func (s *Store) Changed(ctx context.Context, v View, after page.Position, limit int) ([]Entry, error) {
	sql, args := s.forTenant(v.TenantID, changed, v.Country, v.Locale, v.Currency, after.Time, after.ID)
	return postgres.Select(ctx, s.pool, "read gifts", scanEntry, limited(sql, limit), args...)
}

// Entry reads a listed gift.
func (s *Store) Entry(ctx context.Context, v View, id string) (Entry, bool, error) {
	sql, args := s.forTenant(v.TenantID, entry, v.Country, v.Locale, v.Currency, id)
	return first(postgres.Select(ctx, s.pool, "read gift", scanEntry, sql, args...))
}

// limited writes the limit into the statement. With a parameter the planner would not know how few rows are read. It would plan the
// statement again for each page, which takes a third of the page's time. There are few limits, so there are few prepared
// statements.
func limited(sql string, limit int) string { return sql + " LIMIT " + strconv.Itoa(limit) }

func scanEntry(row pgx.CollectableRow) (e Entry, err error) {
	return e, row.Scan(entries.Targets(&e)...)
}

// first returns the first row, if there is one.
func first[T any](rows []T, err error) (row T, found bool, _ error) {
	if err != nil || len(rows) == 0 {
		return row, false, err
	}
	return rows[0], true, nil
}
