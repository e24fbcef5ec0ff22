package server

import (
	"context"
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// productsQuery is a ListProducts request that has been read.
type productsQuery struct {
	view  store.View
	since *time.Time
	after cursor.Position
	limit int
	bind  cursor.Binding
}

// ListProducts pages through the listed gifts by id or, with updatedSince, through what changed in
// the order of the changes. Either order stands still for a gift that does not change, so a page
// never repeats or skips one; a gift that changes while it is read moves to the end of the changes.
func (c *Catalog) ListProducts(ctx context.Context, req *catalogv1.ListProductsRequest) (*catalogv1.ListProductsResponse, error) {
	q, err := c.readProductsQuery(ctx, req)
	if err != nil {
		return nil, err
	}
	found, err := c.entries(ctx, q)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.ListProductsResponse{}
	if len(found) > q.limit {
		found = found[:q.limit]
		last := found[q.limit-1]
		next := q.bind.EncodePosition(cursor.Position{Time: last.UpdatedAt, ID: last.ID})
		resp.NextCursor = &next
	}
	for _, e := range found {
		entry, err := c.present.entry(e, q.view.Currency)
		if err != nil {
			return nil, err
		}
		resp.Items = append(resp.Items, entry)
	}
	return resp, nil
}

// entries reads one more than asked for, which tells whether there is a next page.
func (c *Catalog) entries(ctx context.Context, q productsQuery) ([]store.Entry, error) {
	if q.since == nil {
		return c.store.Listed(ctx, q.view, q.after.ID, q.limit+1)
	}
	return c.store.Changed(ctx, q.view, q.after, q.limit+1)
}

func (c *Catalog) readProductsQuery(ctx context.Context, req *catalogv1.ListProductsRequest) (productsQuery, error) {
	principal, tenant, err := c.settings(ctx)
	if err != nil {
		return productsQuery{}, err
	}
	errs := fields.Collect(ctx)
	rules.CheckCountry(errs, req.GetCountry())
	q := productsQuery{
		view: store.View{
			Country:  req.GetCountry(),
			Locale:   rules.ReadLocale(errs, req.GetLocale(), tenant.GetLocales()),
			Currency: tenant.GetCurrency(),
		},
		since: rules.ReadSince(errs, req.GetUpdatedSince()),
	}
	q.bind = cursor.Bind("catalog/products", principal.TenantID, q.view.Country, q.view.Locale, sinceText(q.since))
	q.after = q.start()
	if after := page.After(req.After, q.bind, errs); after != nil {
		q.after = *after
	}
	q.limit = page.Limit(req.Limit, errs) // After the cursor, which belongs to pages of every size.
	return q, errs.Err()
}

// start is the position before the first entry; no gift has the nil UUID.
func (q productsQuery) start() cursor.Position {
	p := cursor.Position{ID: uuid.Nil.String()}
	if q.since != nil {
		p.Time = *q.since
	}
	return p
}

func sinceText(since *time.Time) string {
	if since == nil {
		return ""
	}
	return since.Format(time.RFC3339Nano)
}
