//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// meanPause is a writer's pause between two steps, calmPause that for about 20 requests a second of all writers.
	meanPause = 600 * time.Millisecond
	calmPause = 2 * time.Second
	// maxRecords bounds the orders, links and requests that a writer keeps.
	maxRecords = 12
)

// writer changes orders and links, each change after the response to the previous one. In between it reads its records, repeats
// requests, and tries to read records of others.
type writer struct {
	*client
	gate            *sync.RWMutex
	meanPause       time.Duration
	history         *history
	random          *mathrand.Rand
	orderOperations ordersv1.OrderOperationsServiceClient
	linkOperations  linksv1.PersonalLinkOperationsServiceClient
	giftSite        linksv1.GiftSiteServiceClient

	tenant, other, brand, product string
	// brands are all brands of the tenant.
	brands []string
	// campaign is the campaign with stock, if the writer may order from it. limited means that its key has only one brand.
	campaign string
	limited  bool
	keyID    int32

	orders, links []snapshot
	stocked       []string
	requests      []sent
	// placesPaced means that it also places orders that advance by themselves. paced is the newest of them, if it has not tried to
	// change it.
	placesPaced bool
	paced       *snapshot
}

// run makes steps until ctx ends, and finishes the last one.
func (w *writer) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.gate.RLock()
		w.step(context.WithoutCancel(ctx))
		w.gate.RUnlock()
		sleep(ctx, time.Duration(w.random.Int64N(int64(2*w.meanPause))))
	}
}

func (w *writer) step(ctx context.Context) {
	switch n := w.random.IntN(100); {
	case n < 14 || len(w.orders) == 0:
		w.place(ctx)
	case n < 22 || len(w.links) == 0:
		w.makeLinks(ctx)
	case n < 50 && w.paced != nil:
		w.changePaced(ctx)
	case n < 52:
		w.changeOrder(ctx, w.random.IntN(len(w.orders)))
	case n < 68:
		w.changeLink(ctx, w.random.IntN(len(w.links)))
	case n < 78:
		w.useStock(ctx)
	case n < 83:
		w.readBack(ctx)
	case n < 88:
		w.readFixed(ctx)
	case n < 94:
		w.repeat(ctx)
	default:
		w.readForeign(ctx)
	}
	w.orders, w.links, w.requests = trim(w, w.orders), trim(w, w.links), trim(w, w.requests)
}

func trim[T any](w *writer, records []T) []T {
	if len(records) <= maxRecords {
		return records
	}
	i := w.random.IntN(len(records))
	return slices.Delete(records, i, i+1)
}

// post sends a request with a new idempotency key, sometimes with concurrent copies. After a success, note adds the events of
// the change, and the change is recorded.
func (w *writer) post(ctx context.Context, path, body string, note func(c *change, a answer), problems ...string) {
	c := change{tenant: w.tenant, keyID: w.keyID, requested: time.Now()}
	r := sent{call: call{method: http.MethodPost, path: path, body: body, idempotencyKey: rand.Text(), problems: problems}}
	copies := 0
	if w.random.IntN(5) == 0 {
		copies = 1 + w.random.IntN(2)
	}
	var ok bool
	if r.answer, ok = w.sendConcurrently(ctx, r.call, copies); !ok {
		return
	}
	c.answered = time.Now()
	w.requests = append(w.requests, r)
	if r.answer.success() {
		note(&c, r.answer)
		w.history.add(c)
	}
}

// operate repeats a call of a person until it is answered. With events, the change is recorded.
func (w *writer) operate(ctx context.Context, name string, events []eventName, act func(ctx context.Context) error) bool {
	began := time.Now()
	for time.Since(began) < answerTimeout {
		try, cancel := context.WithTimeout(ctx, tryTimeout)
		err := act(try)
		cancel()
		w.results.count(name + " " + status.Code(err).String())
		switch status.Code(err) {
		case codes.OK:
			if len(events) > 0 {
				w.history.add(change{tenant: w.tenant, requested: began, answered: time.Now(), events: events})
			}
			return true
		case codes.FailedPrecondition, codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated,
			codes.Unimplemented:
			w.results.failed(answers, began, time.Now(), "%s: %v", name, err)
			return false
		default:
			sleep(ctx, retryInterval)
		}
	}
	w.results.failed(answers, began, time.Now(), "%s: not answered within %s", name, answerTimeout)
	return false
}

// findPersonal describes personal data in a text. It must be nowhere outside the sealed columns.
func findPersonal(where, text string) string {
	if marked := harness.FindPersonalData(text); marked != "" {
		return where + " shows " + marked
	}
	return ""
}

var (
	allScopes = harness.AllScopes()
	orderBody = harness.OrderOf

	approver = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: seed.Approver, Name: "Felix Brandt"}
	staff    = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Bea"}
)

type object = map[string]any

func toJSON(o object) string {
	raw, err := json.Marshal(o)
	if err != nil {
		return err.Error() // The request is then refused.
	}
	return string(raw)
}

// batchBody makes a number of links.
func batchBody(product, brand string, links int) object {
	recipients := make([]any, links)
	for i := range recipients {
		recipients[i] = object{"label": harness.MarkedName, "message": "Of " + harness.MarkedStreet}
	}
	return object{"brandId": brand, "productIds": []any{product}, "recipients": recipients}
}

// claim is the request of a player.
func claim(token, product string) *linksv1.ClaimLinkRequest {
	return &linksv1.ClaimLinkRequest{
		Token: token, ProductId: product,
		Recipient: &linksv1.ClaimRecipient{
			Name: harness.MarkedName, Phone: harness.MarkedPhone, Street: harness.MarkedStreet, City: "Visby",
			PostalCode: proto.String("621 57"), Country: "SE",
		},
	}
}
