package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
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

const selectFile = `SELECT ` + recordColumns + `, details_sealed, budget_amount::text, budget_currency, manager_id,
  placed_by_key_name, after_hours_service_accepted, branded_packaging_requested
FROM orders WHERE tenant_id = $1 AND id = $2`

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

func (s *Store) scanFile(row pgx.CollectableRow) (*File, error) {
	file, f := &File{}, &ordersv1.Fulfilment{}
	var sealed []byte
	var amount, currency *string
	var err error
	file.Record, err = scanRecord(row, &sealed, &amount, &currency, &f.ManagerId, &f.PlacedByKey,
		&f.AfterHoursServiceAccepted, &f.BrandedPackagingRequested)
	if err != nil {
		return nil, err
	}
	if amount != nil {
		f.Budget = &commonv1.Money{Amount: *amount, Currency: text(currency)}
	}
	file.Fulfilment = f
	file.DetailsErased = len(sealed) == 0
	file.Details = func() (rules.Details, error) { return s.openDetails(file.Record.GetId(), sealed) }
	return file, nil
}
