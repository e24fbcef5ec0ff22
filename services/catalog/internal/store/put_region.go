package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	selectRegionsOf = `SELECT country, region FROM region_countries WHERE region = $1 OR country = ANY($2)`

	insertRegion = `INSERT INTO regions (code) VALUES ($1) ON CONFLICT DO NOTHING`

	deleteCountries = `DELETE FROM region_countries WHERE region = $1 AND country <> ALL($2::text[])`

	upsertCountries = `INSERT INTO region_countries (country, region)
SELECT c, $1 FROM unnest($2::text[]) AS c
ON CONFLICT (country) DO UPDATE SET region = EXCLUDED.region WHERE region_countries.region <> EXCLUDED.region`

	// A listed gift has changed for the readers of a moved country if its price there has.
	touchRepriced = `UPDATE products p
SET updated_at = next_change()
WHERE p.state = 'PUBLISHED' AND EXISTS (
  SELECT FROM unnest($1::text[], $2::text[]) AS m (was, becomes)
  WHERE (SELECT amount_eur FROM product_prices WHERE product_id = p.id AND region = m.was)
    IS DISTINCT FROM (SELECT amount_eur FROM product_prices WHERE product_id = p.id AND region = m.becomes))`
)

// PutRegion sets the countries of a region, taking them from other regions, and updates the gifts whose
// price changes in a country.
func (s *Store) PutRegion(ctx context.Context, r rules.Region) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		now, err := regionsOf(ctx, tx, r)
		if err != nil {
			return err
		}
		moves := r.Moves(now)
		from, to := make([]string, len(moves)), make([]string, len(moves))
		for i, m := range moves {
			from[i], to[i] = m.From, m.To
		}
		b := &pgx.Batch{}
		b.Queue(insertRegion, r.Code)
		if len(moves) > 0 {
			b.Queue(deleteCountries, r.Code, r.Countries)
			b.Queue(upsertCountries, r.Code, r.Countries)
			b.Queue(touchRepriced, from, to)
		}
		return tx.SendBatch(ctx, b).Close()
	})
}

func regionsOf(ctx context.Context, tx pgx.Tx, r rules.Region) (map[string]string, error) {
	rows, err := tx.Query(ctx, selectRegionsOf, r.Code, r.Countries)
	if err != nil {
		return nil, fmt.Errorf("read regions of countries: %w", err)
	}
	now := map[string]string{}
	return now, into(now)(rows)
}
