//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const cancellation = `{"reason": "The player chose another reward."}`

// changed records the version of the order in the answer and passes the order on.
func (w *writer) changed(then func(order snapshot, c *change)) func(c *change, a answer) {
	return func(c *change, a answer) {
		if order, ok := w.parse([]byte(a.body)); ok {
			c.add(orderEvent(order.ID, order.Version), a.body)
			then(order, c)
		}
	}
}

func (w *writer) place(ctx context.Context) {
	w.post(ctx, "/orders", toJSON(orderBody(w.product, w.brand)), w.changed(func(order snapshot, _ *change) {
		w.orders = append(w.orders, order)
		w.history.addRecord(w.tenant, order)
	}))
}

func (w *writer) changeOrder(ctx context.Context, i int) {
	o := &w.orders[i]
	update := w.changed(func(order snapshot, _ *change) { *o = order })
	switch n := w.random.IntN(10); {
	case o.Status == "REQUESTED" && n < 5:
		w.operateOrder(ctx, o, func(ctx context.Context) (*ordersv1.Order, error) {
			r, err := w.orderOperations.ApproveOrder(ctx, &ordersv1.ApproveOrderRequest{Actor: approver, TenantId: w.tenant, OrderId: o.ID})
			return r.GetOrder(), err
		})
	case o.Status == "PROCESSING" && n < 4:
		body := fmt.Sprintf(`{"expectedVersion": %d, "courierComment": %q}`, o.Version, rand.Text())
		w.post(ctx, "/orders/"+o.ID+":update-delivery", body, update)
	case o.Status == "PROCESSING" && n < 6:
		shipment := &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://carrier.example/T-1"}
		w.operateOrder(ctx, o, func(ctx context.Context) (*ordersv1.Order, error) {
			r, err := w.orderOperations.DispatchOrder(ctx, &ordersv1.DispatchOrderRequest{
				Actor: staff, TenantId: w.tenant, OrderId: o.ID, Shipment: shipment,
			})
			return r.GetOrder(), err
		})
	case (o.Status == "PROCESSING" || o.Status == "REQUESTED") && n < 7:
		w.post(ctx, "/orders/"+o.ID+":cancel", cancellation, update)
	default:
		w.post(ctx, "/orders/"+o.ID+"/messages", `{"body": "When does it come?"}`, func(c *change, a answer) {
			if message, ok := w.parse([]byte(a.body)); ok {
				c.events = append(c.events, messageEvent(message.ID))
			}
		})
	}
}

// operateOrder has a person change an order.
func (w *writer) operateOrder(ctx context.Context, o *snapshot, act func(ctx context.Context) (*ordersv1.Order, error)) {
	var order *ordersv1.Order
	c := change{tenant: w.tenant, requested: time.Now()}
	done := w.operate(ctx, "operate", nil, func(ctx context.Context) (err error) {
		order, err = act(ctx)
		return err
	})
	if !done {
		return
	}
	c.answered, c.events = time.Now(), []eventName{orderEvent(o.ID, order.GetVersion())}
	w.history.add(c)
	o.Version, o.Status, o.raw = order.GetVersion(), order.GetStatus().String()[len("ORDER_STATUS_"):], ""
}

// maxHeld bounds the units of stock that a writer holds.
const maxHeld = 3

// useStock takes a unit of the campaign with too little stock, or returns one.
func (w *writer) useStock(ctx context.Context) {
	if w.campaign == "" {
		w.readBack(ctx)
		return
	}
	if n := len(w.stocked); n > 0 && w.random.IntN(maxHeld+1) < n {
		w.returnUnit(ctx, w.random.IntN(n))
		return
	}
	body := orderBody(w.product, w.brand)
	body["campaignId"] = w.campaign
	w.post(ctx, "/orders", toJSON(body), w.changed(func(order snapshot, c *change) {
		w.stocked = append(w.stocked, order.ID)
		w.history.holdBegins(order.ID, c.answered)
	}), "out_of_stock")
}

func (w *writer) returnUnit(ctx context.Context, i int) {
	id := w.stocked[i]
	w.stocked = slices.Delete(w.stocked, i, i+1)
	w.history.holdEnds(id, time.Now())
	w.post(ctx, "/orders/"+id+":cancel", cancellation, w.changed(func(snapshot, *change) {}))
}
