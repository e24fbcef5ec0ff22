package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
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
func (s *Store) ProductRecords(ctx context.Context, state rules.State, after *cursor.Position, limit int) ([]ProductRecord, error) {
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
