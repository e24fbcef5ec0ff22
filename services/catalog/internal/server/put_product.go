package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
)

// PutProduct creates a gift or replaces it whole.
func (o *operations) PutProduct(ctx context.Context, req *catalogv1.PutProductRequest) (*catalogv1.PutProductResponse, error) {
	errs := fields.FromContext(ctx)
	product := rules.ReadProduct(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	updatedAt, err := o.Store.PutProduct(ctx, product, func(known rules.Known) error { return known.CheckReferences(req) })
	if err != nil {
		return nil, err
	}
	return &catalogv1.PutProductResponse{UpdatedAt: timestamppb.New(updatedAt)}, nil
}
