package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// Search narrows by every member that is not nil. One of TenantID, Reference and Status is set, so
// that an index serves it.
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
	rows, err := s.pool.Query(ctx, sql, append([]any{planned}, args...)...)
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
	var args []any
	var where []string
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	for _, equal := range []struct {
		column string
		value  *string
	}{
		{"tenant_id", f.TenantID},
		{"reference", f.Reference},
		{"external_order_id", f.ExternalOrderID},
		{"brand_id", f.BrandID},
		{"campaign_id", f.CampaignID},
	} {
		if equal.value != nil {
			add(equal.column+" = ?", *equal.value)
		}
	}
	if f.Status != nil {
		add("status = ?", rules.StatusText(*f.Status))
	}
	if f.PlacedFrom != nil {
		add("created_at >= ?", *f.PlacedFrom)
	}
	if f.PlacedBefore != nil {
		add("created_at < ?", *f.PlacedBefore)
	}
	if f.After != nil {
		add("(created_at, id) < (?, ?)", f.After.Time, f.After.ID)
	}
	args = append(args, f.Limit)
	return fmt.Sprintf("SELECT %s, tenant_id FROM orders WHERE %s ORDER BY created_at DESC, id DESC LIMIT $%d",
		recordColumns, strings.Join(where, " AND "), len(args)), args
}
