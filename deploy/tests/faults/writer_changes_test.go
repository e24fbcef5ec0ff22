//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const cancellation = `{"reason": "The player chose another reward."}`

// noteOrder is a note for post: it adds the event of the order's version in the answer and calls then with the order.
func (w *writer) noteOrder(then func(order snapshot, c *change)) func(c *change, a answer) {
	return func(c *change, a answer) {
		if order, ok := w.parse([]byte(a.body)); ok {
			c.add(orderEvent(order.ID, order.Version), a.body)
			then(order, c)
		}
	}
}

func (w *writer) place(ctx context.Context) {
	if w.placesPaced && w.random.IntN(3) == 0 {
		w.placePaced(ctx)
		return
	}
	w.post(ctx, "/orders", toJSON(orderBody(w.product, w.brand)), w.noteOrder(func(order snapshot, _ *change) {
		w.orders = append(w.orders, order)
		w.history.addRecord(w.tenant, order)
	}))
}

func (w *writer) changeOrder(ctx context.Context, i int) {
	o := &w.orders[i]
	update := w.noteOrder(func(order snapshot, _ *change) { *o = order })
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

// operateOrder changes an order by a call of a person. The answer is not that of the API, so readBack has no text to compare with.
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

// useStock takes a unit of the campaign, whose stock is too small for all writers, or returns one.
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
	w.post(ctx, "/orders", toJSON(body), w.noteOrder(func(order snapshot, c *change) {
		w.stocked = append(w.stocked, order.ID)
		w.history.update(func() { w.history.holds[order.ID] = &hold{from: c.answered} })
	}), "out_of_stock")
}

func (w *writer) returnUnit(ctx context.Context, i int) {
	id := w.stocked[i]
	w.stocked = slices.Delete(w.stocked, i, i+1)
	w.history.update(func() { w.history.holds[id].until = time.Now() })
	w.post(ctx, "/orders/"+id+":cancel", cancellation, w.noteOrder(func(snapshot, *change) {}))
}

func (w *writer) makeLinks(ctx context.Context) {
	body := toJSON(batchBody(w.product, w.brand, 1+w.random.IntN(3)))
	w.post(ctx, "/personal-links:create-batch", body, func(c *change, a answer) {
		var batch struct {
			Results []struct{ Link json.RawMessage }
		}
		if err := json.Unmarshal([]byte(a.body), &batch); err != nil {
			w.results.failed(answers, c.requested, c.answered, "batch: %v: %s", err, a.body)
		}
		for _, r := range batch.Results {
			if link, ok := w.parse(r.Link); ok {
				c.add(linkEvent(link.ID, "created"), link.raw)
				w.links = append(w.links, link)
				w.history.addRecord(w.tenant, link)
			}
		}
	})
}

func (w *writer) changeLink(ctx context.Context, i int) {
	link := w.links[i]
	w.links = slices.Delete(w.links, i, i+1) // Only an approved link can be changed again, and is put back.
	switch {
	case link.Status == "REQUESTED" && w.random.IntN(4) > 0:
		w.operate(ctx, "approve link", []eventName{linkEvent(link.ID, "approved")}, func(ctx context.Context) error {
			_, err := w.linkOperations.ApprovePersonalLink(ctx, &linksv1.ApprovePersonalLinkRequest{
				Actor: approver, TenantId: w.tenant, LinkId: link.ID,
			})
			return err
		})
		link.Status = "ACTIVE"
		w.links = append(w.links, link)
	case link.Status == "ACTIVE" && w.random.IntN(4) > 0:
		w.claim(ctx, link)
	default:
		w.post(ctx, "/personal-links/"+link.ID+":cancel", `{"reason": "No longer a player."}`, func(c *change, a answer) {
			c.add(linkEvent(link.ID, "cancelled"), a.body)
		})
	}
}

// claim claims a link as a player. Its order becomes one that the writer changes.
func (w *writer) claim(ctx context.Context, link snapshot) {
	c := change{tenant: w.tenant, requested: time.Now()}
	done := w.operate(ctx, "claim", nil, func(ctx context.Context) error {
		r, err := w.giftSite.ClaimLink(ctx, claim(path.Base(link.ClaimURL), w.product))
		if err == nil && r.GetState() != linksv1.ClaimState_CLAIM_STATE_CLAIMED {
			err = status.Errorf(codes.FailedPrecondition, "the link is %s", r.GetState())
		}
		return err
	})
	c.answered = time.Now()
	if !done {
		return
	}
	claimed, ok := w.get(ctx, "/personal-links/"+link.ID)
	if !ok || claimed.OrderID == nil {
		w.results.failed(effect, c.requested, time.Now(), "claimed link %s has no order: %s", link.ID, claimed.raw)
		return
	}
	c.events = []eventName{orderEvent(*claimed.OrderID, 0)}
	c.add(linkEvent(link.ID, "claimed"), claimed.raw)
	w.history.add(c)
	if order, ok := w.get(ctx, "/orders/"+*claimed.OrderID); ok {
		w.orders = append(w.orders, order)
	}
}
