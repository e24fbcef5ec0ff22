package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// ImportProducts puts gifts by the rules of PutProduct. Gifts with invalid fields do not reach the store.
func (s *service) ImportProducts(
	ctx context.Context, req *catalogv1.ImportProductsRequest,
) (*catalogv1.ImportProductsResponse, error) {
	if err := s.changesGifts(); err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckImport(req.GetProducts(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	resp := &catalogv1.ImportProductsResponse{}
	var products []rules.Product
	var indexes []int // Of the products in the request.
	for i, p := range req.GetProducts() {
		invalid := &fields.Errors{}
		product := rules.ReadProduct(p, invalid)
		resp.Results = append(resp.Results, resultOf(invalid.Err()))
		if invalid.Err() == nil {
			products, indexes = append(products, product), append(indexes, i)
		}
	}
	if len(products) == 0 {
		return resp, nil
	}
	outcomes, err := s.Store.ImportProducts(ctx, products, func(i int, known rules.References) bool {
		err := known.CheckReferences(req.GetProducts()[indexes[i]])
		resp.Results[indexes[i]] = resultOf(err)
		return err == nil
	})
	for i, outcome := range outcomes {
		resp.Results[indexes[i]].Outcome = outcome
	}
	return resp, err
}

// maxImportErrors bounds the errors of one gift.
const maxImportErrors = 20

// resultOf is the result of a gift with the violations in err. For a valid gift, the caller sets another outcome.
func resultOf(err error) *catalogv1.ImportResult {
	result := &catalogv1.ImportResult{Outcome: catalogv1.ImportOutcome_IMPORT_OUTCOME_REJECTED}
	p, ok := problem.As(err)
	if !ok {
		return result
	}
	for _, v := range p.Violations[:min(len(p.Violations), maxImportErrors)] {
		result.Errors = append(result.Errors, &catalogv1.ImportError{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	return result
}
