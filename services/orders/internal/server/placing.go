package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/idempotency"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// maxReferences bounds how often an order gets another reference because one is taken. Even one collision is rare.
const maxReferences = 3

// place places the orders of all channels. It commits the order that prepare makes, its event and the answer stored for a key
// in one transaction. refuse translates errors of that transaction; nil returns them unchanged.
func (s *Server) place(
	ctx context.Context, prepare func(ctx context.Context) (*rules.NewOrder, error), refuse func(order *rules.NewOrder, err error, about *idempotency.Record) error,
) (*ordersv1.PlaceOrderResponse, error) {
	for attempt := 1; ; attempt++ {
		resp, err := idempotency.Run(ctx, s.store.Pool(),
			func(ctx context.Context) (effect idempotency.Effect[*ordersv1.PlaceOrderResponse], err error) {
				order, err := prepare(ctx)
				if err != nil {
					return effect, err
				}
				effect.Answer = &ordersv1.PlaceOrderResponse{Order: order.Record}
				effect.Record.BrandID = order.Record.GetBrandId()
				effect.Queue, err = s.store.QueuePlaceOrder(ctx, order)
				effect.Translate = func(err error, about *idempotency.Record) error {
					if err = store.PlaceOrderError(err); refuse != nil {
						err = refuse(order, err, about)
					}
					return err
				}
				return effect, err
			})
		if !errors.Is(err, store.ErrReferenceTaken) || attempt == maxReferences {
			if err == nil {
				s.announcePace(ctx, resp.GetOrder())
			}
			return resp, err
		}
	}
}
