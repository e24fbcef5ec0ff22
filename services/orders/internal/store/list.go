package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/cursor"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// Filter of a list of orders. Nil and empty members do not filter.
type Filter struct {
	TenantID            string
	AllBrands           bool
	BrandIDs            []string
	ExternalOrderID     *string
	ExternalRecipientID *string
	Status              *ordersv1.OrderStatus
	BrandID             *string
	UpdatedSince        *time.Time
	After               *cursor.Position
	Limit               int

	// A part of a page has what was placed since, or before.
	placedSince, placedBefore *time.Time
}

// List reads a page, newest placed first.
func (s *Store) List(ctx context.Context, f Filter) ([]*ordersv1.Order, error) {
	var page []*ordersv1.Order
	for _, part := range f.parts() {
		part.Limit -= len(page)
		if part.Limit <= 0 {
			break
		}
		orders, err := s.part(ctx, part)
		if err != nil {
			return nil, err
		}
		page = append(page, orders...)
	}
	return page, nil
}

// part reads one statement's orders. It is put together from fixed pieces, so that each combination of
// filters has a plan of its own.
func (s *Store) part(ctx context.Context, f Filter) ([]*ordersv1.Order, error) {
	sql, args := f.statement()
	rows, err := s.pool.Query(ctx, sql, append([]any{planned}, args...)...)
	if err != nil {
		return nil, fmt.Errorf("list orders: %w", err)
	}
	orders, err := pgx.CollectRows(rows, recordRow)
	if err != nil {
		return nil, fmt.Errorf("list orders: %w", err)
	}
	return orders, nil
}

// statement reads the page of a key limited to brands from each of them: no index gives the newest of
// several brands, and their orders may be few among those of the tenant.
func (f Filter) statement() (string, []any) {
	where, args := f.where()
	args = append(args, f.Limit)
	limit := len(args)
	page := fmt.Sprintf("SELECT %s FROM orders WHERE %s ORDER BY created_at DESC, id DESC LIMIT $%d", recordColumns, where, limit)
	if f.AllBrands {
		return page, args
	}
	args = append(args, f.reach())
	return fmt.Sprintf("SELECT %s FROM (SELECT DISTINCT unnest($%d::uuid[])) AS reach (within) CROSS JOIN LATERAL (%s) AS own "+
		"ORDER BY created_at DESC, id DESC LIMIT $%d", recordColumns, len(args), page, limit), args
}

// reach lists the brands a key that is limited reads from.
func (f Filter) reach() []string {
	if f.BrandID == nil {
		return f.BrandIDs
	}
	if slices.Contains(f.BrandIDs, *f.BrandID) {
		return []string{*f.BrandID}
	}
	return nil
}

func (f Filter) where() (string, []any) {
	var args []any
	var where []string
	add := func(condition string, values ...any) {
		for _, v := range values {
			args = append(args, v)
			condition = strings.Replace(condition, "?", fmt.Sprintf("$%d", len(args)), 1)
		}
		where = append(where, condition)
	}
	add("tenant_id = ?", f.TenantID)
	switch {
	case !f.AllBrands:
		add("brand_id = within")
	case f.BrandID != nil:
		add("brand_id = ?", *f.BrandID)
	}
	if f.ExternalOrderID != nil {
		add("external_order_id = ?", *f.ExternalOrderID)
	}
	if f.ExternalRecipientID != nil {
		add("external_recipient_id = ?", *f.ExternalRecipientID)
	}
	if f.Status != nil {
		add("status = ?", rules.StatusText(*f.Status))
	}
	if f.UpdatedSince != nil {
		add("updated_at >= ?", *f.UpdatedSince)
	}
	if f.placedSince != nil {
		add("created_at >= ?", *f.placedSince)
	}
	if f.placedBefore != nil {
		add("created_at < ?", *f.placedBefore)
	}
	if f.After != nil {
		add("(created_at, id) < (?, ?)", f.After.Time, f.After.ID)
	}
	return strings.Join(where, " AND "), args
}
