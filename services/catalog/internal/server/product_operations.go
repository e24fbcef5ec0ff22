package server

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// ProductOperations is the operations plane of single gifts.
type ProductOperations struct {
	catalogv1.UnimplementedProductOperationsServiceServer

	store *store.Store
}

// NewProductOperations makes the service.
func NewProductOperations(st *store.Store) *ProductOperations { return &ProductOperations{store: st} }

// sideRequest is a request that changes one side of a gift.
type sideRequest interface {
	GetProductId() string
	GetActor() *commonv1.Actor
}

// change changes one side of a gift once errs, which holds the faults of that side, is complete.
func (o *ProductOperations) change(
	ctx context.Context, errs *fields.Errors, req sideRequest, action string, detail any,
	change func(*rules.Product), check func(known rules.Known, errs *fields.Errors),
) (*timestamppb.Timestamp, error) {
	act := store.Act{
		Subject: rules.RecordID("productId", req.GetProductId(), errs), Actor: rules.ReadActor(req.GetActor(), errs),
		Action: action, Detail: detail,
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	updatedAt, err := o.store.ChangeProduct(ctx, act, change, func(known rules.Known) error {
		missing := &fields.Errors{}
		if check != nil {
			check(known, missing)
		}
		return missing.Err()
	})
	return stamp(updatedAt, err)
}

func stamp(at time.Time, err error) (*timestamppb.Timestamp, error) {
	if err != nil {
		return nil, err
	}
	return timestamppb.New(at), nil
}
