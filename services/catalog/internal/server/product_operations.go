package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/fields"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// sideRequest is a request that changes one side of a gift.
type sideRequest interface {
	GetProductId() string
	GetActor() *commonv1.Actor
}

// change changes one side of a gift. errs has the violations of that side.
func (o *productOperations) change(
	ctx context.Context, req sideRequest, action string, detail any,
	change func(*rules.Product), check func(known rules.Known) error, errs *fields.Errors,
) (*timestamppb.Timestamp, error) {
	act := store.Act{
		Subject: rules.RecordID("productId", req.GetProductId(), errs), Actor: rules.ReadActor(req.GetActor(), errs),
		Action: action, Detail: detail,
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	updatedAt, err := o.store.ChangeProduct(ctx, act, change, check)
	if err != nil {
		return nil, err
	}
	return timestamppb.New(updatedAt), nil
}
