package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
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
	After               *page.Position
	Limit               int

	// Bounds of one part of a page (method parts).
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

// part reads the orders of one statement.
func (s *Store) part(ctx context.Context, f Filter) ([]*ordersv1.Order, error) {
	sql, args := f.statement()
	return postgres.Select(ctx, s.pool, "list orders", scanOrder, sql, append([]any{planPerCall}, args...)...)
}

// statement reads a page. For a key limited to brands it reads a page of each brand, because no index returns the newest orders
// of several brands.
func (f Filter) statement() (string, []any) {
	w := f.where()
	limit := w.Arg(f.Limit)
	page := fmt.Sprintf("SELECT %s FROM orders WHERE %s ORDER BY created_at DESC, id DESC LIMIT %s", recordColumns.Select(), w.SQL(),
		limit)
	if !f.AllBrands {
		page = fmt.Sprintf("SELECT %s FROM (SELECT DISTINCT unnest(%s::uuid[])) AS reach (within) CROSS JOIN LATERAL (%s) AS own "+
			"ORDER BY created_at DESC, id DESC LIMIT %s", recordColumns.Select(), w.Arg(f.reach()), page, limit)
	}
	return page, w.Args()
}

// reach lists the brands that a limited key may see.
func (f Filter) reach() []string {
	if f.BrandID == nil {
		return f.BrandIDs
	}
	if slices.Contains(f.BrandIDs, *f.BrandID) {
		return []string{*f.BrandID}
	}
	return nil
}

func (f Filter) where() *postgres.Where {
	w := &postgres.Where{}
	w.And("tenant_id = ?", f.TenantID)
	if f.AllBrands {
		w.Equal("brand_id", f.BrandID)
	} else {
		w.And("brand_id = within")
	}
	w.Equal("external_order_id", f.ExternalOrderID)
	w.Equal("external_recipient_id", f.ExternalRecipientID)
	if f.Status != nil {
		w.And("status = ?", enumname.String(*f.Status))
	}
	if f.UpdatedSince != nil {
		w.And("updated_at >= ?", *f.UpdatedSince)
	}
	placedBetween(w, f.placedSince, f.placedBefore, f.After)
	return w
}

// placedBetween narrows to the orders placed in an interval and after a position of a list.
func placedBetween(w *postgres.Where, since, before *time.Time, after *page.Position) {
	if since != nil {
		w.And("created_at >= ?", *since)
	}
	if before != nil {
		w.And("created_at < ?", *before)
	}
	if after != nil {
		w.And("(created_at, id) < (?, ?)", after.Time, after.ID)
	}
}

// parts are the filters of the statements that read a page, one after another until it is full.
//
// With a filter on the time of the last change there are two parts. Orders placed since that time also changed since then, and
// they come first in the list. An index returns them in order. Earlier orders that changed since then must all be read and
// sorted, so they are read only if the first part does not fill the page. With a further filter the first part would hardly
// ever fill a page, so there is only one statement.
func (f Filter) parts() []Filter {
	if f.UpdatedSince == nil || f.BrandID != nil || f.Status != nil || f.ExternalOrderID != nil || f.ExternalRecipientID != nil {
		return []Filter{f}
	}
	placed, before := f, f
	placed.UpdatedSince, placed.placedSince = nil, f.UpdatedSince
	before.placedBefore = f.UpdatedSince
	// The database keeps microseconds.
	if f.After != nil && f.After.Time.Before(f.UpdatedSince.Truncate(time.Microsecond)) {
		return []Filter{before}
	}
	return []Filter{placed, before}
}

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
	After           *page.Position
	Limit           int
}

// Search reads a page of found orders, newest placed first.
func (s *Store) Search(ctx context.Context, f Search) ([]*ordersv1.FoundOrder, error) {
	sql, args := f.statement()
	return postgres.Select(ctx, s.pool, "search orders", func(row pgx.CollectableRow) (*ordersv1.FoundOrder, error) {
		found, err := scanRow(row, foundColumns)
		return &ordersv1.FoundOrder{TenantId: found.tenantID, Order: found.Order}, err
	}, sql, append([]any{planPerCall}, args...)...)
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
	return fmt.Sprintf("SELECT %s FROM orders WHERE %s ORDER BY created_at DESC, id DESC LIMIT %s",
		foundColumns.Select(), w.SQL(), w.Arg(f.Limit)), w.Args()
}
