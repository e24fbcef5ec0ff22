//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"time"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func (w *writer) place(ctx context.Context) {
	w.post(ctx, "/orders", text(orderBody(w.product, w.brand)), func(d *deed, a answer) {
		if order, ok := w.read([]byte(a.body)); ok {
			d.add(orderMark(order.ID, order.Version), a.body)
			w.orders = append(w.orders, order)
			w.ledger.knows(w.tenant, order)
		}
	})
}

func (w *writer) changeOrder(ctx context.Context, i int) {
	o := &w.orders[i]
	changed := func(d *deed, a answer) {
		if order, ok := w.read([]byte(a.body)); ok {
			d.add(orderMark(order.ID, order.Version), a.body)
			*o = order
		}
	}
	switch n := w.random.IntN(10); {
	case o.Status == "REQUESTED" && n < 5:
		w.operate(ctx, o, func(ctx context.Context) (*ordersv1.Order, error) {
			r, err := w.desk.ApproveOrder(ctx, &ordersv1.ApproveOrderRequest{Actor: coordinator, TenantId: w.tenant, OrderId: o.ID})
			return r.GetOrder(), err
		})
	case o.Status == "PROCESSING" && n < 4:
		w.post(ctx, "/orders/"+o.ID+":update-delivery", fmt.Sprintf(`{"expectedVersion": %d, "courierComment": %q}`, o.Version, rand.Text()), changed)
	case o.Status == "PROCESSING" && n < 6:
		shipment := &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://carrier.example/T-1"}
		w.operate(ctx, o, func(ctx context.Context) (*ordersv1.Order, error) {
			r, err := w.desk.DispatchOrder(ctx, &ordersv1.DispatchOrderRequest{Actor: clerk, TenantId: w.tenant, OrderId: o.ID, Shipment: shipment})
			return r.GetOrder(), err
		})
	case (o.Status == "PROCESSING" || o.Status == "REQUESTED") && n < 7:
		w.post(ctx, "/orders/"+o.ID+":cancel", `{"reason": "The player chose another reward."}`, changed)
	default:
		w.post(ctx, "/orders/"+o.ID+"/messages", `{"body": "When does it come?"}`, func(d *deed, a answer) {
			if message, ok := w.read([]byte(a.body)); ok {
				d.marks = append(d.marks, messageMark(message.ID))
			}
		})
	}
}

// operate has a person change an order.
func (w *writer) operate(ctx context.Context, o *snapshot, act func(ctx context.Context) (*ordersv1.Order, error)) {
	var order *ordersv1.Order
	d := deed{tenant: w.tenant, asked: time.Now()}
	done := w.person(ctx, "operate", nil, func(ctx context.Context) (err error) {
		order, err = act(ctx)
		return err
	})
	if !done {
		return
	}
	d.answered, d.marks = time.Now(), []mark{orderMark(o.ID, order.GetVersion())}
	w.ledger.write(d)
	o.Version, o.Status, o.raw = order.GetVersion(), order.GetStatus().String()[len("ORDER_STATUS_"):], ""
}

// Of the stock, a writer holds so many units at most.
const heldAtMost = 3

// useStock takes a unit of the campaign that has too few, or gives one back.
func (w *writer) useStock(ctx context.Context) {
	if w.campaign == "" {
		w.readBack(ctx)
		return
	}
	if n := len(w.stocked); n > 0 && w.random.IntN(heldAtMost+1) < n {
		w.giveBack(ctx, w.random.IntN(n))
		return
	}
	order := orderBody(w.product, w.brand)
	order["campaignId"] = w.campaign
	w.post(ctx, "/orders", text(order), func(d *deed, a answer) {
		if order, ok := w.read([]byte(a.body)); ok {
			d.add(orderMark(order.ID, order.Version), a.body)
			w.stocked = append(w.stocked, order.ID)
			w.ledger.took(order.ID, d.answered)
		}
	}, "out_of_stock")
}

func (w *writer) giveBack(ctx context.Context, i int) {
	id := w.stocked[i]
	w.stocked = slices.Delete(w.stocked, i, i+1)
	w.ledger.gives(id, time.Now())
	w.post(ctx, "/orders/"+id+":cancel", `{"reason": "The player chose another reward."}`, func(d *deed, a answer) {
		if order, ok := w.read([]byte(a.body)); ok {
			d.add(orderMark(order.ID, order.Version), a.body)
		}
	})
}

// readBack reads an order that nobody else changes: it is as it was answered last.
func (w *writer) readBack(ctx context.Context) {
	if len(w.orders) == 0 {
		return
	}
	o, asked := w.orders[w.random.IntN(len(w.orders))], time.Now()
	got, ok := w.get(ctx, "/orders/"+o.ID)
	if !ok {
		return
	}
	wrong := ""
	if got.Version != o.Version || o.raw != "" && !sameJSON(got.raw, o.raw) {
		wrong = fmt.Sprintf("order %s is read as %s, and was answered as version %d %s", o.ID, got.raw, o.Version, o.raw)
	}
	w.verdict.hold(answers, asked, time.Now(), wrong)
}

func (w *writer) get(ctx context.Context, target string) (snapshot, bool) {
	a, ok := w.exchange(ctx, call{method: http.MethodGet, path: target})
	if !ok {
		return snapshot{}, false
	}
	return w.read([]byte(a.body))
}
