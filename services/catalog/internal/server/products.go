package server

import (
	"context"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// GetProduct returns a listed gift.
func (s *service) GetProduct(ctx context.Context, req *catalogv1.GetProductRequest) (*catalogv1.GetProductResponse, error) {
	errs := caller.RequestErrors(ctx)
	view, err := s.view(ctx, req, errs)
	if err != nil {
		return nil, err
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	id, ok := fields.ParseUUID(req.GetProductId())
	if !ok {
		return nil, problem.RecordNotFound()
	}
	e, found, err := s.Store.Entry(ctx, view, id)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, problem.RecordNotFound()
	}
	product, err := s.present.product(e, view.Currency)
	if err != nil {
		return nil, err
	}
	return &catalogv1.GetProductResponse{Product: product}, nil
}

type viewRequest interface {
	GetCountry() string
	GetLocale() string
}

// view is how the key's tenant sees gifts.
func (s *service) view(ctx context.Context, req viewRequest, errs *fields.Errors) (store.View, error) {
	principal, tenant, err := s.keyAndTenant(ctx)
	if err != nil {
		return store.View{}, err
	}
	rules.CheckCountry(req.GetCountry(), errs)
	return store.View{
		TenantID: principal.TenantID, Country: req.GetCountry(), Currency: tenant.GetCurrency(),
		Locale: rules.ReadLocale(req.GetLocale(), tenant.GetLocales(), errs),
	}, nil
}

// productsQuery is a valid ListProducts request. Without since it is a page of a load: the reading of all listed gifts.
type productsQuery struct {
	view  store.View
	since *timestamppb.Timestamp
	// after is nil on the first page of a load.
	after *page.Position
	limit int
	bind  page.Binding
}

// ListProducts pages through the listed gifts by id or, with updatedSince, through the changes in their order. A gift that does
// not change keeps its place in either order, so no page repeats or skips it. A gift that changes in between moves to the end
// of the changes; a load may leave it to the next sync (store.Listed).
func (s *service) ListProducts(
	ctx context.Context, req *catalogv1.ListProductsRequest,
) (*catalogv1.ListProductsResponse, error) {
	q, err := s.readProductsQuery(ctx, req)
	if err != nil {
		return nil, err
	}
	found, start, err := s.entries(ctx, q)
	if err != nil {
		return nil, err
	}
	found, next := page.Cut(found, q.limit, q.bind, func(last store.Entry) page.Position { return q.position(last, start) })
	resp := &catalogv1.ListProductsResponse{NextCursor: next}
	for _, e := range found {
		entry, err := s.present.entry(e, q.view.Currency)
		if err != nil {
			return nil, err
		}
		resp.Items = append(resp.Items, entry)
	}
	return resp, nil
}

// entries reads the entries of a page and one more, and the start of the load.
func (s *service) entries(ctx context.Context, q productsQuery) (found []store.Entry, start time.Time, err error) {
	switch {
	case q.since != nil:
		found, err = s.Store.Changed(ctx, q.view, *q.after, q.limit+1)
	case q.after != nil:
		start = q.after.Time
		found, err = s.Store.Listed(ctx, q.view, start, q.after.ID, q.limit+1)
	default:
		found, start, err = s.Store.FirstListed(ctx, q.view, q.limit+1)
	}
	return found, start, err
}

// position is that of the last entry of a page. In a load it has the start of the load.
func (q productsQuery) position(last store.Entry, start time.Time) page.Position {
	if q.since == nil {
		return page.Position{Time: start, ID: last.ID}
	}
	return page.Position{Time: last.UpdatedAt, ID: last.ID}
}

func (s *service) readProductsQuery(ctx context.Context, req *catalogv1.ListProductsRequest) (productsQuery, error) {
	errs := caller.RequestErrors(ctx)
	view, err := s.view(ctx, req, errs)
	if err != nil {
		return productsQuery{}, err
	}
	q := productsQuery{view: view, since: page.Since(req.GetUpdatedSince(), errs)}
	q.bind = page.Bind("catalog/products", view.TenantID, q.view.Country, q.view.Locale, sinceText(q.since))
	q.after = page.After(req.After, q.bind, errs)
	if q.after == nil && q.since != nil {
		q.after = &page.Position{Time: q.since.AsTime(), ID: uuid.Nil.String()} // No gift has the nil UUID.
	}
	q.limit = page.Limit(req.Limit, errs) // The limit is not part of the cursor's binding.
	return q, errs.Err()
}

func sinceText(since *timestamppb.Timestamp) string {
	if since == nil {
		return ""
	}
	return since.AsTime().Format(time.RFC3339Nano)
}
