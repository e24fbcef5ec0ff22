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
	errs := caller.RequestErrors(ctx)
	rules.CheckImport(req.GetProducts(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	resp := &catalogv1.ImportProductsResponse{}
	var products []rules.Product
	var places []int
	for i, p := range req.GetProducts() {
		invalid := &fields.Errors{}
		product := rules.ReadProduct(p, invalid)
		resp.Results = append(resp.Results, rejected(invalid.Err()))
		if invalid.Err() == nil {
			products, places = append(products, product), append(places, i)
		}
	}
	if len(products) == 0 {
		return resp, nil
	}
	outcomes, err := s.Store.ImportProducts(ctx, products, func(i int, known rules.References) bool {
		err := known.CheckReferences(req.GetProducts()[places[i]])
		resp.Results[places[i]] = rejected(err)
		return err == nil
	})
	for i, outcome := range outcomes {
		resp.Results[places[i]].Outcome = outcome
	}
	return resp, err
}

// maxImportErrors bounds the errors of one gift.
const maxImportErrors = 20

// rejected reports the violations in err. Without any, the outcome is set later.
func rejected(err error) *catalogv1.ImportResult {
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
