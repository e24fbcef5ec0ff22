//go:build faults

package e2e_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"path"
	"slices"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// answerWithin is how long a writer repeats a request, which covers everything that is done to the platform.
	answerWithin = 2 * time.Minute
	attemptTime  = 15 * time.Second
	// meanRest is a writer's rest between two changes.
	meanRest = 600 * time.Millisecond
	// atHand is how many orders and links a writer keeps changing.
	atHand = 12
)

// writer changes orders and links, one change after the answer to the other, in whichever service comes.
type writer struct {
	*testing.T
	site   *site
	ledger *ledger
	random *mathrand.Rand
	client *http.Client
	desk   ordersv1.OrderOperationsServiceClient
	team   linksv1.PersonalLinkOperationsServiceClient
	gifts  linksv1.GiftSiteServiceClient

	tenant, key, brand string
	keyID              int32
	orders, links      []snapshot
}

// run writes until ctx ends, and ends what it has begun.
func (w *writer) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.step(context.WithoutCancel(ctx))
		pauseFor(ctx, time.Duration(w.random.Int64N(int64(2*meanRest))))
	}
}

func (w *writer) step(ctx context.Context) {
	switch n := w.random.IntN(100); {
	case n < 20 || len(w.orders) == 0:
		w.place(ctx)
	case n < 30 || len(w.links) == 0:
		w.makeLinks(ctx)
	case n < 70:
		w.changeOrder(ctx, w.random.IntN(len(w.orders)))
	default:
		w.changeLink(ctx, w.random.IntN(len(w.links)))
	}
	w.orders, w.links = w.forget(w.orders), w.forget(w.links)
}

func (w *writer) forget(records []snapshot) []snapshot {
	if len(records) <= atHand {
		return records
	}
	i := w.random.IntN(len(records))
	return slices.Delete(records, i, i+1)
}

func (w *writer) place(ctx context.Context) {
	body := w.site.order(w.T, func(order map[string]any) { order["brandId"] = w.brand })
	w.post(ctx, "/orders", body, func(d *deed, a answer) {
		if order, ok := w.read([]byte(a.body)); ok {
			d.add(orderMark(order.ID, order.Version), a.body)
			w.orders = append(w.orders, order)
		}
	})
}

func (w *writer) makeLinks(ctx context.Context) {
	body := w.site.batch(w.T, func(batch map[string]any) {
		batch["brandId"] = w.brand
		recipients := make([]any, 1+w.random.IntN(3))
		for i := range recipients {
			recipients[i] = map[string]any{"label": markedName}
		}
		batch["recipients"] = recipients
	})
	w.post(ctx, "/personal-links:create-batch", body, func(d *deed, a answer) {
		var made struct {
			Results []struct{ Link json.RawMessage }
		}
		if err := json.Unmarshal([]byte(a.body), &made); err != nil {
			w.ledger.complain("batch: %v: %s", err, a.body)
		}
		for _, r := range made.Results {
			if link, ok := w.read(r.Link); ok {
				d.add(linkMark(link.ID, "created"), link.raw)
				w.links = append(w.links, link)
			}
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

func (w *writer) changeLink(ctx context.Context, i int) {
	link := w.links[i]
	w.links = slices.Delete(w.links, i, i+1)
	switch {
	case link.Status == "REQUESTED" && w.random.IntN(4) > 0:
		w.person(ctx, "approve link", []mark{linkMark(link.ID, "approved")}, func(ctx context.Context) error {
			_, err := w.team.ApprovePersonalLink(ctx, &linksv1.ApprovePersonalLinkRequest{Actor: coordinator, TenantId: w.tenant, LinkId: link.ID})
			return err
		})
		link.Status = "ACTIVE"
		w.links = append(w.links, link)
	case link.Status == "ACTIVE" && w.random.IntN(4) > 0:
		w.claim(ctx, link)
	default:
		w.post(ctx, "/personal-links/"+link.ID+":cancel", `{"reason": "No longer a player."}`, func(d *deed, a answer) {
			d.add(linkMark(link.ID, "cancelled"), a.body)
		})
	}
}

// claim does what a player does, and takes the order that comes of it over.
func (w *writer) claim(ctx context.Context, link snapshot) {
	request := &linksv1.ClaimLinkRequest{
		Token: path.Base(link.ClaimURL), ProductId: w.site.env["GIFTING_PRODUCT_ID"],
		Recipient: &linksv1.ClaimRecipient{
			Name: markedName, Phone: markedPhone, Street: markedStreet, City: "Visby", PostalCode: proto.String("621 57"), Country: "SE",
		},
	}
	asked := time.Now()
	done := w.person(ctx, "claim", nil, func(ctx context.Context) error {
		r, err := w.gifts.ClaimLink(ctx, request)
		if err == nil && r.GetState() != linksv1.ClaimState_CLAIM_STATE_CLAIMED {
			err = status.Errorf(codes.FailedPrecondition, "the link is %s", r.GetState())
		}
		return err
	})
	answered := time.Now()
	if !done {
		return
	}
	claimed, ok := w.get(ctx, "/personal-links/"+link.ID)
	if !ok || claimed.OrderID == nil {
		w.ledger.complain("claimed link %s names no order: %s", link.ID, claimed.raw)
		return
	}
	w.ledger.write(deed{
		tenant: w.tenant, asked: asked, answered: answered,
		marks: []mark{orderMark(*claimed.OrderID, 0), linkMark(link.ID, "claimed")}, data: map[mark]string{linkMark(link.ID, "claimed"): claimed.raw},
	})
	if order, ok := w.get(ctx, "/orders/"+*claimed.OrderID); ok {
		w.orders = append(w.orders, order)
	}
}

func (d *deed) add(m mark, data string) {
	d.marks = append(d.marks, m)
	if d.data == nil {
		d.data = map[mark]string{}
	}
	d.data[m] = data
}

func (w *writer) read(raw []byte) (snapshot, bool) {
	r, err := readRecord(raw)
	if err != nil {
		w.ledger.complain("%v: %s", err, raw)
	}
	return r, err == nil
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
	o.Version, o.Status = order.GetVersion(), order.GetStatus().String()[len("ORDER_STATUS_"):]
}

// person repeats a call until it is answered. With marks it is written down.
func (w *writer) person(ctx context.Context, name string, marks []mark, act func(ctx context.Context) error) bool {
	asked, deadline := time.Now(), time.Now().Add(answerWithin)
	for time.Now().Before(deadline) {
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		err := act(attempt)
		cancel()
		w.ledger.count(name + " " + status.Code(err).String())
		switch status.Code(err) {
		case codes.OK:
			if len(marks) > 0 {
				w.ledger.write(deed{tenant: w.tenant, asked: asked, answered: time.Now(), marks: marks})
			}
			return true
		case codes.FailedPrecondition, codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
			w.ledger.complain("%s: %v", name, err)
			return false
		default:
			pauseFor(ctx, retryEvery)
		}
	}
	w.ledger.complain("%s: not answered within %s", name, answerWithin)
	return false
}

// post repeats a request under its idempotency key until it is answered, and writes down what note makes of the answer.
func (w *writer) post(ctx context.Context, target, body string, note func(d *deed, a answer)) {
	d := deed{tenant: w.tenant, key: w.keyID, asked: time.Now()}
	a, ok := w.exchange(ctx, call{method: http.MethodPost, path: target, body: body, idempotencyKey: rand.Text()})
	d.answered = time.Now()
	if !ok {
		return
	}
	note(&d, a)
	w.ledger.write(d)
}

func (w *writer) get(ctx context.Context, target string) (snapshot, bool) {
	a, ok := w.exchange(ctx, call{method: http.MethodGet, path: target})
	if !ok {
		return snapshot{}, false
	}
	return w.read([]byte(a.body))
}

func (w *writer) exchange(ctx context.Context, c call) (answer, bool) {
	deadline := time.Now().Add(answerWithin)
	for time.Now().Before(deadline) {
		a, err := w.attempt(ctx, c)
		kind := outcome{answer: a, err: err}.kind()
		w.ledger.count(c.method + " " + kind)
		switch {
		case err == nil && a.status < http.StatusMultipleChoices:
			return a, true
		case err == nil && a.status < http.StatusInternalServerError && a.status != http.StatusTooManyRequests &&
			kind != "409 idempotency_request_in_progress":
			w.ledger.complain("%s %s: %s", c.method, c.path, a.body)
			return a, false
		}
		pauseFor(ctx, retryEvery)
	}
	w.ledger.complain("%s %s: not answered within %s", c.method, c.path, answerWithin)
	return answer{}, false
}

func (w *writer) attempt(ctx context.Context, c call) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, attemptTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, c.method, w.site.env["GIFTING_URL"]+c.path, bytes.NewReader([]byte(c.body)))
	if err != nil {
		return answer{}, err
	}
	req.Header.Set("Authorization", "Bearer "+w.key)
	if c.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Idempotency-Key", c.idempotencyKey)
	}
	res, err := w.client.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	return answer{status: res.StatusCode, header: res.Header, body: string(content)}, err
}
