package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// ProductRecord is a gift as it is stored.
type ProductRecord struct {
	rules.Product
	PublishedOnce bool
	UpdatedAt     time.Time
}

const (
	selectProductRecords = `SELECT ` + productColumns + `, p.published_once, p.updated_at FROM products p`

	selectProductRecord = selectProductRecords + ` WHERE p.id = $1`
)

// ProductRecord reads a gift in any state.
func (s *Store) ProductRecord(ctx context.Context, id string) (ProductRecord, bool, error) {
	found, err := s.productRecords(ctx, selectProductRecord, id)
	if err != nil || len(found) == 0 {
		return ProductRecord{}, false, err
	}
	return found[0], true, nil
}

// ProductRecords reads a page of gifts by id. An empty state means every state.
func (s *Store) ProductRecords(ctx context.Context, state rules.State, after *page.Position, limit int) ([]ProductRecord, error) {
	var w postgres.Where
	w.Equal("p.state", postgres.Nullable(string(state)))
	if after != nil {
		w.And("p.id > ?", after.ID)
	}
	return s.productRecords(ctx, selectProductRecords+" WHERE "+w.SQL()+" ORDER BY p.id LIMIT "+w.Arg(limit), w.Args()...)
}

func (s *Store) productRecords(ctx context.Context, sql string, args ...any) ([]ProductRecord, error) {
	rows, err := s.pool.Query(ctx, sql, args...)
	if err != nil {
		return nil, fmt.Errorf("read gifts: %w", err)
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (ProductRecord, error) {
		var r ProductRecord
		return r, row.Scan(append(productDestinations(&r.Product), &r.PublishedOnce, &r.UpdatedAt)...)
	})
}

const (
	upsertProduct = `INSERT INTO products (id, state, published_once, name, description, translations, variations, categories,
  available_countries, image_file_ids, customization_available, gift_set, ready_to_send, updated_at)
VALUES ($1, $2, $2 = 'PUBLISHED', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, next_change())
ON CONFLICT (id) DO UPDATE SET
  state = EXCLUDED.state, published_once = products.published_once OR EXCLUDED.published_once,
  name = EXCLUDED.name, description = EXCLUDED.description, translations = EXCLUDED.translations,
  variations = EXCLUDED.variations, categories = EXCLUDED.categories,
  available_countries = EXCLUDED.available_countries, image_file_ids = EXCLUDED.image_file_ids,
  customization_available = EXCLUDED.customization_available, gift_set = EXCLUDED.gift_set,
  ready_to_send = EXCLUDED.ready_to_send,
  updated_at = CASE WHEN $13 THEN next_change() ELSE products.updated_at END
RETURNING updated_at`

	deletePrices = `DELETE FROM product_prices WHERE product_id = $1 AND region <> ALL($2::text[])`

	upsertPrices = `INSERT INTO product_prices (product_id, region, amount_eur)
SELECT $1, p.region, p.amount::numeric FROM unnest($2::text[], $3::text[]) AS p (region, amount)
ON CONFLICT (product_id, region) DO UPDATE SET amount_eur = EXCLUDED.amount_eur
WHERE product_prices.amount_eur <> EXCLUDED.amount_eur`
)

// PutProduct creates a gift or replaces it as a whole, and returns its updated_at. That changes only if readers see a
// difference. check refuses references to unknown records.
func (s *Store) PutProduct(ctx context.Context, p rules.Product, check func(rules.Known) error) (time.Time, error) {
	var updatedAt time.Time
	err := s.change(ctx, func(tx pgx.Tx) error {
		known, err := readKnown(ctx, tx, p)
		if err != nil {
			return err
		}
		if err := check(known); err != nil {
			return err
		}
		old, err := readGifts(ctx, tx, []string{p.ID})
		if err != nil {
			return err
		}
		// A new gift replaces the zero value.
		updatedAt, err = replaceProduct(ctx, tx, old[p.ID], p, known)
		return err
	})
	return updatedAt, err
}

func writeProduct(ctx context.Context, tx pgx.Tx, p rules.Product, moved bool) (updatedAt time.Time, err error) {
	b := &pgx.Batch{}
	queueProduct(b, p, moved, &updatedAt)
	queuePrices(b, p)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return time.Time{}, fmt.Errorf("write gift: %w", err)
	}
	return updatedAt.UTC(), nil
}

func queueProduct(b *pgx.Batch, p rules.Product, moved bool, updatedAt *time.Time) {
	b.Queue(upsertProduct, p.ID, string(p.State), p.Text.Name, p.Text.Description, p.Translations, p.Variations,
		list(p.Categories), list(p.Countries), list(p.ImageFileIDs),
		p.CustomizationAvailable, p.GiftSet, p.ReadyToSend, moved,
	).QueryRow(func(row pgx.Row) error { return row.Scan(updatedAt) })
}

func queuePrices(b *pgx.Batch, p rules.Product) {
	regions, amounts := make([]string, 0, len(p.Prices)), make([]string, 0, len(p.Prices))
	for region, amount := range p.Prices {
		regions, amounts = append(regions, region), append(amounts, amount)
	}
	b.Queue(deletePrices, p.ID, regions)
	b.Queue(upsertPrices, p.ID, regions, amounts)
}

// list is never nil, because the columns are NOT NULL.
func list(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
