package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// ProductRecord is a gift as it is kept.
type ProductRecord struct {
	rules.Product
	PublishedOnce bool
	UpdatedAt     time.Time
}

const (
	selectProductRecords = `SELECT ` + productColumns + `, p.published_once, p.updated_at FROM products p`

	selectProductRecord = selectProductRecords + ` WHERE p.id = $1`

	selectRecordsPage = selectProductRecords + ` WHERE p.id > $1 AND ($2 = '' OR p.state = $2) ORDER BY p.id LIMIT $3`
)

// ProductRecord reads a gift in whatever state; none: nothing.
func (s *Store) ProductRecord(ctx context.Context, id string) (ProductRecord, bool, error) {
	found, err := s.productRecords(ctx, selectProductRecord, id)
	if err != nil || len(found) == 0 {
		return ProductRecord{}, false, err
	}
	return found[0], true, nil
}

// ProductRecords gives gifts after an id, by id; state empty: in every state.
func (s *Store) ProductRecords(ctx context.Context, state rules.State, after string, limit int) ([]ProductRecord, error) {
	return s.productRecords(ctx, selectRecordsPage, after, string(state), limit)
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
