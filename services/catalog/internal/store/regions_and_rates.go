package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// Rate is the units of a currency for one euro.
type Rate struct {
	Currency  string
	Rate      string
	UpdatedAt time.Time
}

const (
	selectAllRegions = `SELECT r.code, coalesce(array_agg(c.country ORDER BY c.country) FILTER (WHERE c.country IS NOT NULL), '{}')
FROM regions r LEFT JOIN region_countries c ON c.region = r.code GROUP BY r.code ORDER BY r.code`

	selectRates = `SELECT currency, trim_scale(rate)::text, updated_at FROM exchange_rates ORDER BY currency`
)

// Regions lists all regions with their countries.
func (s *Store) Regions(ctx context.Context) ([]rules.Region, error) {
	rows, err := s.pool.Query(ctx, selectAllRegions)
	if err != nil {
		return nil, fmt.Errorf("read regions: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[rules.Region])
}

// Rates lists all exchange rates.
func (s *Store) Rates(ctx context.Context) ([]Rate, error) {
	rows, err := s.pool.Query(ctx, selectRates)
	if err != nil {
		return nil, fmt.Errorf("read exchange rates: %w", err)
	}
	return pgx.CollectRows(rows, pgx.RowToStructByPos[Rate])
}
