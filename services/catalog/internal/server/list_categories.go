package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// ListCategories returns all categories in display order. Names without a translation are in en-US.
func (c *publicCatalog) ListCategories(
	ctx context.Context, req *catalogv1.ListCategoriesRequest,
) (*catalogv1.ListCategoriesResponse, error) {
	_, tenant, err := c.settings(ctx)
	if err != nil {
		return nil, err
	}
	errs := fields.FromContext(ctx)
	locale := rules.ReadLocale(req.GetLocale(), tenant.GetLocales(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	categories, err := c.store.Categories(ctx)
	if err != nil {
		return nil, err
	}
	resp := &catalogv1.ListCategoriesResponse{}
	for _, category := range categories {
		out := &catalogv1.Category{Code: category.Code, Name: category.InLocale(locale)}
		for _, s := range category.Subcategories {
			out.Subcategories = append(out.Subcategories, &catalogv1.Subcategory{Code: s.Code, Name: s.InLocale(locale)})
		}
		resp.Categories = append(resp.Categories, out)
	}
	return resp, nil
}
