package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// Imports takes many gifts at once.
type Imports struct {
	catalogv1.UnimplementedImportServiceServer

	store *store.Store
}

// NewImports makes the service.
func NewImports(st *store.Store) *Imports { return &Imports{store: st} }

var importOutcomes = map[rules.ImportOutcome]catalogv1.ImportOutcome{
	rules.ImportRejected:  catalogv1.ImportOutcome_IMPORT_OUTCOME_REJECTED,
	rules.ImportCreated:   catalogv1.ImportOutcome_IMPORT_OUTCOME_CREATED,
	rules.ImportUpdated:   catalogv1.ImportOutcome_IMPORT_OUTCOME_UPDATED,
	rules.ImportUnchanged: catalogv1.ImportOutcome_IMPORT_OUTCOME_UNCHANGED,
}

// ImportProducts puts gifts by the rules of PutProduct. Those that do not stand for themselves never
// reach the store.
func (s *Imports) ImportProducts(
	ctx context.Context, req *catalogv1.ImportProductsRequest,
) (*catalogv1.ImportProductsResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckImport(req.GetProducts(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	resp := &catalogv1.ImportProductsResponse{}
	var products []rules.Product
	var places []int
	for i, p := range req.GetProducts() {
		faults := &fields.Errors{}
		product := rules.ReadProduct(p, faults)
		resp.Results = append(resp.Results, rejected(faults))
		if faults.Err() == nil {
			products, places = append(products, product), append(places, i)
		}
	}
	if len(products) == 0 {
		return resp, nil
	}
	outcomes, err := s.store.ImportProducts(ctx, products, func(i int, known rules.Known) bool {
		missing := &fields.Errors{}
		known.CheckReferences(req.GetProducts()[places[i]], missing)
		resp.Results[places[i]] = rejected(missing)
		return missing.Err() == nil
	})
	for i, outcome := range outcomes {
		resp.Results[places[i]].Outcome = importOutcomes[outcome]
	}
	return resp, err
}

// maxImportErrors bounds the answer: a gift can be wrong in a thousand places.
const maxImportErrors = 20

func rejected(faults *fields.Errors) *catalogv1.ImportResult {
	result := &catalogv1.ImportResult{Outcome: catalogv1.ImportOutcome_IMPORT_OUTCOME_REJECTED}
	for _, v := range faults.List()[:min(len(faults.List()), maxImportErrors)] {
		result.Errors = append(result.Errors, &catalogv1.ImportError{Field: v.Field, Code: v.Code, Message: v.Message})
	}
	return result
}
