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
	// A column needs an argument; this one is always 0, so that updated_at is next_change().
	sinceChange time.Duration
}

const (
	inserted postgres.Use = selected << (1 + iota)
	replaced              // By the INSERT, if the gift exists.
)

var products = postgres.Columns[ProductRecord]{
	postgres.Field("id", inserted|selected, func(p *ProductRecord) *string { return &p.ID }).Cast("", "::text"),
	postgres.Field("state", inserted|replaced|selected, func(p *ProductRecord) *rules.State { return &p.State }),
	postgres.Field("published_once", inserted|selected, func(p *ProductRecord) *bool { return &p.PublishedOnce }),
	postgres.Field("name", inserted|replaced|selected, func(p *ProductRecord) *string { return &p.Text.Name }),
	postgres.Field("description", inserted|replaced|selected, func(p *ProductRecord) *string { return &p.Text.Description }),
	postgres.Field("translations", inserted|replaced|selected,
		func(p *ProductRecord) *map[string]rules.Text { return &p.Translations }),
	postgres.Field("details", inserted|replaced|selected, func(p *ProductRecord) *map[string]rules.Details { return &p.Details }),
	postgres.Field("variations", inserted|replaced|selected, func(p *ProductRecord) *[]rules.Variation { return &p.Variations }),
	postgres.Field("categories", inserted|replaced|selected, func(p *ProductRecord) *[]string { return &p.Categories }),
	postgres.Field("available_countries", inserted|replaced|selected, func(p *ProductRecord) *[]string { return &p.Countries }),
	postgres.Field("image_file_ids", inserted|replaced|selected, func(p *ProductRecord) *[]string { return &p.ImageFileIDs }),
	postgres.Field("image_variations", inserted|replaced|selected,
		func(p *ProductRecord) *map[string]map[string]string { return &p.ImageVariations }),
	postgres.Field("customization_available", inserted|replaced|selected,
		func(p *ProductRecord) *bool { return &p.CustomizationAvailable }),
	postgres.Field("gift_set", inserted|replaced|selected, func(p *ProductRecord) *bool { return &p.GiftSet }),
	postgres.Field("ready_to_send", inserted|replaced|selected, func(p *ProductRecord) *bool { return &p.ReadyToSend }),
	postgres.Field("updated_at", selected, func(p *ProductRecord) *time.Time { return &p.UpdatedAt }),
	postgres.Field("updated_at", inserted,
		func(p *ProductRecord) *time.Duration { return &p.sinceChange }).Cast("::interval + next_change()", ""),
	postgres.Field("coalesce((SELECT jsonb_object_agg(region, amount_eur::text) FROM product_prices WHERE product_id = p.id), '{}')",
		selected, func(p *ProductRecord) *map[string]string { return &p.Prices }),
}

var selectProducts = `SELECT ` + products.For(selected).Select() + ` FROM products p`

func scanProduct(row pgx.CollectableRow) (p ProductRecord, err error) {
	err = row.Scan(products.For(selected).Targets(&p)...)
	rules.DropStaleImageVariations(p.ImageVariations, p.ImageFileIDs, p.Variations)
	return p, err
}

// ProductRecord reads a gift in any state.
func (s *Store) ProductRecord(ctx context.Context, id string) (ProductRecord, bool, error) {
	return first(postgres.Select(ctx, s.pool, "read gift", scanProduct, selectProducts+` WHERE p.id = $1`, id))
}

// ProductRecords reads a page of gifts by id. An empty state means every state.
func (s *Store) ProductRecords(ctx context.Context, state rules.State, after *page.Position, limit int) ([]ProductRecord, error) {
	var w postgres.Where
	w.Equal("p.state", postgres.Nullable(string(state)))
	if after != nil {
		w.And("p.id > ?", after.ID)
	}
	sql := selectProducts + " WHERE " + w.SQL() + " ORDER BY p.id LIMIT " + w.Arg(limit)
	return postgres.Select(ctx, s.pool, "read gifts", scanProduct, sql, w.Args()...)
}

// upsertProduct has a further argument: whether readers see a difference.
var upsertProduct = products.For(inserted).Insert("products") + ` ON CONFLICT (id) DO UPDATE SET
` + products.For(replaced).Excluded() + `,
  published_once = products.published_once OR excluded.published_once,
  updated_at = CASE WHEN $17 THEN excluded.updated_at ELSE products.updated_at END
RETURNING updated_at`

const (
	deletePrices = `DELETE FROM product_prices WHERE product_id = $1 AND region <> ALL($2::text[])`

	upsertPrices = `INSERT INTO product_prices (product_id, region, amount_eur)
SELECT $1, p.region, p.amount::numeric FROM unnest($2::text[], $3::text[]) AS p (region, amount)
ON CONFLICT (product_id, region) DO UPDATE SET amount_eur = EXCLUDED.amount_eur
WHERE product_prices.amount_eur <> EXCLUDED.amount_eur`
)

// PutProduct creates a gift or replaces it as a whole, and returns its updated_at. That changes only if readers see a
// difference. check refuses references to unknown records.
func (s *Store) PutProduct(ctx context.Context, p rules.Product, check func(rules.References) error) (time.Time, error) {
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
		updatedAt, err = writeProduct(ctx, tx, p, !old[p.ID].SameForReaders(p, known.Regions))
		return err
	})
	return updatedAt, err
}

// writeProduct writes a gift. A trigger suspends the offerings that no longer fit.
func writeProduct(ctx context.Context, tx pgx.Tx, p rules.Product, visible bool) (updatedAt time.Time, err error) {
	b := &pgx.Batch{}
	queueProduct(b, p, visible, &updatedAt)
	queuePrices(b, p)
	if err := tx.SendBatch(ctx, b).Close(); err != nil {
		return time.Time{}, fmt.Errorf("write gift: %w", err)
	}
	return updatedAt.UTC(), nil
}

func queueProduct(b *pgx.Batch, p rules.Product, visible bool, updatedAt *time.Time) {
	record := &ProductRecord{Product: p, PublishedOnce: p.State == rules.Published}
	record.Categories, record.Countries, record.ImageFileIDs = notNil(p.Categories), notNil(p.Countries), notNil(p.ImageFileIDs)
	b.Queue(upsertProduct, append(products.For(inserted).Args(record), visible)...).
		QueryRow(func(row pgx.Row) error { return row.Scan(updatedAt) })
}

func queuePrices(b *pgx.Batch, p rules.Product) {
	regions, amounts := make([]string, 0, len(p.Prices)), make([]string, 0, len(p.Prices))
	for region, amount := range p.Prices {
		regions, amounts = append(regions, region), append(amounts, amount)
	}
	b.Queue(deletePrices, p.ID, regions)
	b.Queue(upsertPrices, p.ID, regions, amounts)
}

// notNil replaces nil, because the columns are NOT NULL.
func notNil(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
