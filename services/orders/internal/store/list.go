package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// List is a page of the orders that a key may see.
type List struct {
	Key caller.Principal
	// Filters are those of the request. What is nil does not filter. UpdatedSince is in whole microseconds, as stored times are.
	Filters *ordersv1.ListOrdersRequest
	After   *page.Position
	Limit   int

	// Bounds of one part of the page (method parts).
	changedSince, placedSince, placedBefore *timestamppb.Timestamp
}

// List reads a page, newest placed first.
func (s *Store) List(ctx context.Context, l List) ([]*ordersv1.Order, error) {
	var page []*ordersv1.Order
	for _, part := range l.parts() {
		part.Limit -= len(page)
		if part.Limit <= 0 {
			break
		}
		sql, args := part.statement()
		orders, err := postgres.Select(ctx, s.pool, "list orders", scanOrder, sql, append([]any{planPerCall}, args...)...)
		if err != nil {
			return nil, err
		}
		page = append(page, orders...)
	}
	return page, nil
}

// statement reads a page. For a key limited to brands it reads a page of each brand, because no index returns the newest orders
// of several brands.
func (l List) statement() (string, []any) {
	w := l.where()
	limit := w.Arg(l.Limit)
	page := fmt.Sprintf("SELECT %s FROM orders WHERE %s ORDER BY created_at DESC, id DESC LIMIT %s", recordColumns.Select(), w.SQL(),
		limit)
	if !l.Key.AllBrands {
		page = fmt.Sprintf("SELECT %s FROM (SELECT DISTINCT unnest(%s::uuid[])) AS reach (within) CROSS JOIN LATERAL (%s) AS own "+
			"ORDER BY created_at DESC, id DESC LIMIT %s", recordColumns.Select(), w.Arg(l.reach()), page, limit)
	}
	return page, w.Args()
}

// reach lists the brands that a limited key may see.
func (l List) reach() []string {
	brand := l.Filters.BrandId
	if brand == nil {
		return l.Key.BrandIDs
	}
	if slices.Contains(l.Key.BrandIDs, *brand) {
		return []string{*brand}
	}
	return nil
}

func (l List) where() *postgres.Where {
	w, by := &postgres.Where{}, l.Filters
	w.And("tenant_id = ?", l.Key.TenantID)
	if l.Key.AllBrands {
		w.Equal("brand_id", by.BrandId)
	} else {
		w.And("brand_id = within")
	}
	w.Equal("external_order_id", by.ExternalOrderId)
	w.Equal("external_recipient_id", by.ExternalRecipientId)
	if by.Status != nil {
		w.And("status = ?", enumname.String(by.GetStatus()))
	}
	if l.changedSince != nil {
		w.And("updated_at >= ?", l.changedSince.AsTime())
	}
	placedBetween(w, l.placedSince, l.placedBefore, l.After)
	return w
}

// placedBetween narrows to the orders placed in an interval and after a position of a list.
func placedBetween(w *postgres.Where, since, before *timestamppb.Timestamp, after *page.Position) {
	if since != nil {
		w.And("created_at >= ?", since.AsTime())
	}
	if before != nil {
		w.And("created_at < ?", before.AsTime())
	}
	if after != nil {
		w.And("(created_at, id) < (?, ?)", after.Time, after.ID)
	}
}

// parts are the statements that read a page, one after another until it is full.
//
// With a filter on the time of the last change there are two parts. Orders placed since that time also changed since then, and
// they come first in the list. An index returns them in order. Earlier orders that changed since then must all be read and
// sorted, so they are read only if the first part does not fill the page. With a further filter the first part would hardly
// ever fill a page, so there is only one statement.
func (l List) parts() []List {
	by := l.Filters
	l.changedSince = by.GetUpdatedSince()
	onlySince := &ordersv1.ListOrdersRequest{UpdatedSince: by.GetUpdatedSince(), After: by.After, Limit: by.Limit}
	if by.GetUpdatedSince() == nil || !proto.Equal(by, onlySince) {
		return []List{l}
	}
	placed, before := l, l
	placed.changedSince, placed.placedSince = nil, by.GetUpdatedSince()
	before.placedBefore = by.GetUpdatedSince()
	if l.After != nil && l.After.Time.Before(by.GetUpdatedSince().AsTime()) {
		return []List{before}
	}
	return []List{placed, before}
}

// Search is a page of the orders that have the filters of the request. It has a tenant, a reference, or a status and no other
// filter than times, so that an index serves it.
type Search struct {
	Filters *ordersv1.SearchOrdersRequest
	After   *page.Position
	Limit   int
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
	w, by := &postgres.Where{}, f.Filters
	w.Equal("tenant_id", by.TenantId)
	w.Equal("reference", by.Reference)
	w.Equal("external_order_id", by.ExternalOrderId)
	w.Equal("brand_id", by.BrandId)
	w.Equal("campaign_id", by.CampaignId)
	if by.Status != nil {
		w.And("status = ?", enumname.String(by.GetStatus()))
	}
	placedBetween(w, by.GetPlacedFrom(), by.GetPlacedBefore(), f.After)
	return fmt.Sprintf("SELECT %s FROM orders WHERE %s ORDER BY created_at DESC, id DESC LIMIT %s",
		foundColumns.Select(), w.SQL(), w.Arg(f.Limit)), w.Args()
}
