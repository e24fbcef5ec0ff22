package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// ErrNotFound means that the tenant has no such order.
var ErrNotFound = errors.New("no such order")

var selectOrder = `SELECT ` + recordColumns.Select() + ` FROM orders WHERE tenant_id = $1 AND id = $2`

// Get reads one order's record.
func (s *Store) Get(ctx context.Context, tenantID, id string) (*ordersv1.Order, error) {
	return postgres.SelectOne(ctx, s.pool, "read order", ErrNotFound, scanOrder, selectOrder, tenantID, id)
}

// FullOrder is an order with everything that the team and the operator may see.
type FullOrder struct {
	Record     *ordersv1.Order
	Fulfilment *ordersv1.Fulfilment
	// DetailsErased means that the details were erased.
	DetailsErased bool
	// Details decrypts the sealed column; it fails once the details are erased.
	Details func() (rules.Details, error)
}

var selectFull = `SELECT ` + fullColumns.Select() + ` FROM orders WHERE tenant_id = $1 AND id = $2`

// GetFull reads an order with everything. It returns ErrNotFound if the tenant has no such order.
func (s *Store) GetFull(ctx context.Context, tenantID, id string) (*FullOrder, error) {
	return postgres.SelectOne(ctx, s.pool, "read full order", ErrNotFound, s.scanFull, selectFull, tenantID, id)
}

func (s *Store) scanFull(from pgx.CollectableRow) (*FullOrder, error) {
	r, err := scanRow(from, fullColumns)
	if err != nil {
		return nil, err
	}
	return &FullOrder{
		Record: r.Order, Fulfilment: r.fulfilment, DetailsErased: len(r.sealed) == 0,
		Details: func() (rules.Details, error) { return s.openDetails(r.GetId(), r.sealed) },
	}, nil
}

var errDetails = errors.New("sealed details cannot be decoded")

func (s *Store) openDetails(orderID string, sealed []byte) (details rules.Details, err error) {
	plain, err := s.ring.Open(sealed, detailsAssociatedData(orderID))
	if err != nil {
		return details, fmt.Errorf("open details: %w", err)
	}
	if json.Unmarshal(plain, &details) != nil {
		return details, errDetails // The cause could quote personal data.
	}
	return details, nil
}

func (s *Store) sealDetails(orderID string, details rules.Details) ([]byte, error) {
	plain, err := json.Marshal(details)
	if err != nil {
		return nil, fmt.Errorf("encode details: %w", err)
	}
	return s.ring.Seal(plain, detailsAssociatedData(orderID)), nil
}

// detailsAssociatedData binds the sealed details to their column and order.
func detailsAssociatedData(orderID string) string { return "orders.details_sealed/" + orderID }

func sealedOrders() seal.Table {
	return seal.Table{Name: "orders", Columns: []seal.Column{{Name: "details_sealed", AssociatedData: detailsAssociatedData}}}
}

// SealedColumns are the columns that hold sealed values.
func SealedColumns() []seal.Table { return []seal.Table{sealedOrders(), sealedMessages()} }
