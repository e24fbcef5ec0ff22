package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// PreviewItem reports everything that ordering a gift would meet now, and what it is estimated to cost. It reserves nothing.
func (o *ordering) PreviewItem(ctx context.Context, req *catalogv1.PreviewItemRequest) (*catalogv1.PreviewItemResponse, error) {
	item, facts, err := o.readItem(ctx, req.GetItem(), "item.")
	if err != nil {
		return nil, err
	}
	found := rules.CheckItem(item, facts)
	if item.Unstocked(facts) {
		found = append(found, rules.OutOfStock())
	}
	resp := &catalogv1.PreviewItemResponse{}
	for _, p := range found {
		resp.Problems = append(resp.Problems, itemProblem(p))
	}
	view := store.View{
		TenantID: req.GetItem().GetTenantId(), Country: countryOrNone(req.GetItem().GetCountry()),
		Locale: rules.BaseLocale, Currency: req.GetCurrency(),
	}
	entry, listed, err := o.store.Entry(ctx, view, idOrUnknown(req.GetItem().GetProductId()))
	if err != nil || !listed {
		return resp, err
	}
	product, err := o.present.product(entry, view.Currency)
	if err != nil {
		return nil, err
	}
	resp.Estimate, resp.EstimateEur = product.GetEstimate(), product.GetEstimateEur()
	return resp, nil
}

func itemProblem(p *problem.Error) *catalogv1.ItemProblem {
	out := &catalogv1.ItemProblem{Code: string(p.Code), Detail: p.Detail}
	for _, v := range p.Violations {
		out.Violations = append(out.Violations, &commonv1.Violation{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	return out
}
