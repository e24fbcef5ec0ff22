package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

const (
	selectAllRegions = `SELECT r.code, coalesce(array_agg(c.country ORDER BY c.country) FILTER (WHERE c.country IS NOT NULL), '{}')
FROM regions r LEFT JOIN region_countries c ON c.region = r.code GROUP BY r.code ORDER BY r.code`

	selectRates = `SELECT currency, trim_scale(rate)::text, updated_at FROM exchange_rates ORDER BY currency`
)

// Regions lists all regions with their countries.
func (s *Store) Regions(ctx context.Context) ([]rules.Region, error) {
	return postgres.Select(ctx, s.pool, "read regions", pgx.RowToStructByPos[rules.Region], selectAllRegions)
}

// Rates lists all exchange rates.
func (s *Store) Rates(ctx context.Context) ([]*catalogv1.ExchangeRate, error) {
	return postgres.Select(ctx, s.pool, "read exchange rates", func(row pgx.CollectableRow) (*catalogv1.ExchangeRate, error) {
		r := &catalogv1.ExchangeRate{}
		return r, row.Scan(&r.Currency, &r.Rate, postgres.ScanTime(&r.UpdatedAt))
	}, selectRates)
}

const (
	selectRegionsOf = `SELECT country, region FROM region_countries WHERE region = $1 OR country = ANY($2)`

	insertRegion = `INSERT INTO regions (code) VALUES ($1) ON CONFLICT DO NOTHING`

	deleteCountries = `DELETE FROM region_countries WHERE region = $1 AND country <> ALL($2::text[])`

	upsertCountries = `INSERT INTO region_countries (country, region)
SELECT c, $1 FROM unnest($2::text[]) AS c
ON CONFLICT (country) DO UPDATE SET region = EXCLUDED.region WHERE region_countries.region <> EXCLUDED.region`

	// For readers in a moved country, a listed gift has changed if its price there has.
	touchRepriced = `UPDATE products p
SET updated_at = next_change()
WHERE p.state = 'PUBLISHED' AND EXISTS (
  SELECT FROM unnest($1::text[], $2::text[]) AS m (was, becomes)
  WHERE (SELECT amount_eur FROM product_prices WHERE product_id = p.id AND region = m.was)
    IS DISTINCT FROM (SELECT amount_eur FROM product_prices WHERE product_id = p.id AND region = m.becomes))`
)

// PutRegion sets the countries of a region, removes them from other regions, and updates the gifts whose price changes in a
// country.
func (s *Store) PutRegion(ctx context.Context, r rules.Region) error {
	return s.change(ctx, func(tx pgx.Tx) error {
		current, err := regionsOf(ctx, tx, r)
		if err != nil {
			return err
		}
		moves := r.Moves(current)
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
	current := map[string]string{}
	return current, collectMap(current)(rows)
}

const upsertRate = `INSERT INTO exchange_rates (currency, rate) VALUES ($1, $2)
ON CONFLICT (currency) DO UPDATE SET rate = EXCLUDED.rate, updated_at = clock_timestamp()
WHERE exchange_rates.rate <> EXCLUDED.rate`

// PutExchangeRate sets the units of a currency for one euro.
func (s *Store) PutExchangeRate(ctx context.Context, currency, rate string) error {
	_, err := s.pool.Exec(ctx, upsertRate, currency, rate)
	return err
}
