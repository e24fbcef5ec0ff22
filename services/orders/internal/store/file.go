package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// File is an order with all that those who fulfil it see.
type File struct {
	Record     *ordersv1.Order
	Fulfilment *ordersv1.Fulfilment
	// DetailsErased: their retention has passed.
	DetailsErased bool
	// Details opens the sealed column; it fails once they are erased.
	Details func() (rules.Details, error)
}

var selectFile = `SELECT ` + recordColumns + `, ` + selected(fileColumns) + ` FROM orders WHERE tenant_id = $1 AND id = $2`

// GetFile reads an order's file. ErrNotFound when the tenant has no such order.
func (s *Store) GetFile(ctx context.Context, tenantID, id string) (*File, error) {
	rows, err := s.pool.Query(ctx, selectFile, tenantID, id)
	if err != nil {
		return nil, fmt.Errorf("read order file: %w", err)
	}
	file, err := pgx.CollectExactlyOneRow(rows, s.scanFile)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("read order file: %w", err)
	}
	return file, nil
}

func (s *Store) scanFile(from pgx.CollectableRow) (*File, error) {
	r := &row{fulfilment: &ordersv1.Fulfilment{}}
	if err := r.scan(from, allColumns); err != nil {
		return nil, err
	}
	return &File{
		Record: r.Order, Fulfilment: r.fulfilment, DetailsErased: len(r.sealed) == 0,
		Details: func() (rules.Details, error) { return s.openDetails(r.GetId(), r.sealed) },
	}, nil
}
