//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	mathrand "math/rand/v2"
	"net/http"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// meanRest is a writer's rest between two steps.
	meanRest = 600 * time.Millisecond
	// atHand is how many orders and links a writer keeps changing, and how many requests it repeats.
	atHand = 12
)

// writer changes orders and links, one change after the answer to the other, in whichever service comes. Between that it
// reads what it wrote, repeats what it asked, and asks for what is not its own.
type writer struct {
	*client
	ledger *ledger
	random *mathrand.Rand
	desk   ordersv1.OrderOperationsServiceClient
	team   linksv1.PersonalLinkOperationsServiceClient
	gifts  linksv1.GiftSiteServiceClient

	tenant, other, brand, product string
	// brands are all of the tenant.
	brands []string
	// campaign is the one with stock, if the writer may order from it; limited says that its key has one brand only.
	campaign string
	limited  bool
	keyID    int32

	orders, links []snapshot
	stocked       []string
	asked         []repeat
}

// run steps until ctx ends, and ends what it has begun.
func (w *writer) run(ctx context.Context) {
	for ctx.Err() == nil {
		w.step(context.WithoutCancel(ctx))
		pauseFor(ctx, time.Duration(w.random.Int64N(int64(2*meanRest))))
	}
}

func (w *writer) step(ctx context.Context) {
	switch n := w.random.IntN(100); {
	case n < 14 || len(w.orders) == 0:
		w.place(ctx)
	case n < 22 || len(w.links) == 0:
		w.makeLinks(ctx)
	case n < 52:
		w.changeOrder(ctx, w.random.IntN(len(w.orders)))
	case n < 68:
		w.changeLink(ctx, w.random.IntN(len(w.links)))
	case n < 78:
		w.useStock(ctx)
	case n < 83:
		w.readBack(ctx)
	case n < 88:
		w.browse(ctx)
	case n < 94:
		w.repeat(ctx)
	default:
		w.intrude(ctx)
	}
	w.orders, w.links, w.asked = forget(w, w.orders), forget(w, w.links), forget(w, w.asked)
}

func forget[T any](w *writer, records []T) []T {
	if len(records) <= atHand {
		return records
	}
	i := w.random.IntN(len(records))
	return slices.Delete(records, i, i+1)
}

// post makes a request under a new idempotency key, at times several at once, and writes down what note makes of the
// answer.
func (w *writer) post(ctx context.Context, target, body string, note func(d *deed, a answer), may ...string) {
	d := deed{tenant: w.tenant, key: w.keyID, asked: time.Now()}
	r := repeat{call: call{method: http.MethodPost, path: target, body: body, idempotencyKey: rand.Text(), may: may}}
	twins := 0
	if w.random.IntN(5) == 0 {
		twins = 1 + w.random.IntN(2)
	}
	var ok bool
	if r.answer, ok = w.together(ctx, r.call, twins); !ok {
		return
	}
	d.answered = time.Now()
	w.asked = append(w.asked, r)
	if !r.answer.good() {
		return
	}
	note(&d, r.answer)
	w.ledger.write(d)
}

func (w *writer) read(raw []byte) (snapshot, bool) {
	r, err := readRecord(raw)
	if err != nil {
		w.verdict.broken(answers, time.Now(), time.Now(), "%v: %s", err, raw)
	}
	return r, err == nil
}

// person repeats a call until it is answered. With marks it is written down.
func (w *writer) person(ctx context.Context, name string, marks []mark, act func(ctx context.Context) error) bool {
	asked := time.Now()
	for time.Since(asked) < answerWithin {
		attempt, cancel := context.WithTimeout(ctx, attemptTime)
		err := act(attempt)
		cancel()
		w.verdict.count(name + " " + status.Code(err).String())
		switch status.Code(err) {
		case codes.OK:
			if len(marks) > 0 {
				w.ledger.write(deed{tenant: w.tenant, asked: asked, answered: time.Now(), marks: marks})
			}
			return true
		case codes.FailedPrecondition, codes.InvalidArgument, codes.NotFound, codes.PermissionDenied, codes.Unauthenticated, codes.Unimplemented:
			w.verdict.broken(answers, asked, time.Now(), "%s: %v", name, err)
			return false
		default:
			pauseFor(ctx, retryEvery)
		}
	}
	w.verdict.broken(answers, asked, time.Now(), "%s: not answered within %s", name, answerWithin)
	return false
}
