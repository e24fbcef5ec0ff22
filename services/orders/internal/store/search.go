package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// Search finds orders by every member that is not nil. One of TenantID, Reference and Status is set,
// so that an index serves it.
type Search struct {
	TenantID        *string
	Reference       *string
	ExternalOrderID *string
	Status          *ordersv1.OrderStatus
	BrandID         *string
	CampaignID      *string
	PlacedFrom      *time.Time
	PlacedBefore    *time.Time
	After           *cursor.Position
	Limit           int
}

// Search reads a page of found orders, newest placed first.
func (s *Store) Search(ctx context.Context, f Search) ([]*ordersv1.FoundOrder, error) {
	sql, args := f.statement()
	rows, err := s.pool.Query(ctx, sql, append([]any{planPerCall}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("search orders: %w", err)
	}
	found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*ordersv1.FoundOrder, error) {
		found := &ordersv1.FoundOrder{}
		var err error
		found.Order, err = scanRecord(row, &found.TenantId)
		return found, err
	})
	if err != nil {
		return nil, fmt.Errorf("search orders: %w", err)
	}
	return found, nil
}

func (f Search) statement() (string, []any) {
	w := &postgres.Where{}
	w.Equal("tenant_id", f.TenantID)
	w.Equal("reference", f.Reference)
	w.Equal("external_order_id", f.ExternalOrderID)
	w.Equal("brand_id", f.BrandID)
	w.Equal("campaign_id", f.CampaignID)
	if f.Status != nil {
		w.And("status = ?", enumname.String(*f.Status))
	}
	placedBetween(w, f.PlacedFrom, f.PlacedBefore, f.After)
	return fmt.Sprintf("SELECT %s, tenant_id FROM orders WHERE %s ORDER BY created_at DESC, id DESC LIMIT %s",
		recordColumns, w.SQL(), w.Arg(f.Limit)), w.Args()
}
