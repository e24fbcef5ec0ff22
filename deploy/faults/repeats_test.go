//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"
)

// repeat is a request that was answered.
type repeat struct {
	call   call
	answer answer
}

const (
	replayed = "Idempotent-Replayed"
	reused   = "idempotency_key_reused"
)

// together makes a call until it is answered, and so many times more at the same time. All that are answered, with a success
// or a refusal that is right here, get the same answer, and one of them at most gets it anew.
func (c *client) together(ctx context.Context, what call, twins int) (answer, bool) {
	began, all := time.Now(), make([]answer, twins)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			if a, err := c.attempt(ctx, what); err == nil {
				all[i] = a
			}
		})
	}
	first, ok := c.exchange(ctx, what)
	group.Wait()
	if !ok {
		return first, false
	}
	anew, wrong := 0, ""
	for _, a := range append(all, first) {
		if !a.settles(what.may) {
			continue
		}
		if a.header.Get(replayed) == "" {
			anew++
		}
		if a.status != first.status || a.body != first.body {
			wrong = fmt.Sprintf("%s: one request has two answers: %d %s and %d %s", what.path, first.status, first.body, a.status, a.body)
		}
	}
	if anew > 1 {
		wrong = fmt.Sprintf("%s was answered anew %d times", what.path, anew)
	}
	c.verdict.hold(effect, began, time.Now(), wrong)
	return first, true
}

// repeat makes an old request again, as it was or changed: the answer is the old one, or that the key is another's.
func (w *writer) repeat(ctx context.Context) {
	if len(w.asked) == 0 {
		return
	}
	old, began := w.asked[w.random.IntN(len(w.asked))], time.Now()
	what := old.call
	changed := w.random.IntN(5) == 0
	if changed {
		what.body, what.may = strings.Replace(what.body, "{", `{"unknown": 1, `, 1), []string{reused}
	}
	got, ok := w.exchange(ctx, what)
	if !ok {
		return
	}
	wrong := ""
	switch {
	case changed && got.code() != reused:
		wrong = fmt.Sprintf("%s: another request under the key was answered %d %s", what.path, got.status, got.body)
	case !changed && (got.status != old.answer.status || got.body != old.answer.body || got.header.Get(replayed) != "true"):
		wrong = fmt.Sprintf("%s: repeated, it was answered %d %s instead of %d %s", what.path, got.status, got.body, old.answer.status, old.answer.body)
	}
	w.verdict.hold(effect, began, time.Now(), wrong)
}

// crowd is how many identical requests come at once, where they come all at once.
const crowd = 100

// throng places orders, each by a crowd of identical requests under an API key of its own.
func (w *writer) throng(ctx context.Context, newKey func(ctx context.Context) (key string, id int32, err error)) {
	for ctx.Err() == nil {
		if key, id, err := newKey(ctx); err == nil {
			w.placeInCrowd(context.WithoutCancel(ctx), w.with(key), id)
		}
		pauseFor(ctx, time.Duration(w.random.Int64N(int64(4*meanRest))))
	}
}

func (w *writer) placeInCrowd(ctx context.Context, c *client, keyID int32) {
	d := deed{tenant: w.tenant, key: keyID, asked: time.Now()}
	body := text(orderBody(w.product, w.brand))
	a, ok := c.together(ctx, call{method: http.MethodPost, path: "/orders", body: body, idempotencyKey: "crowd"}, crowd)
	if !ok {
		return
	}
	d.answered = time.Now()
	if order, ok := w.read([]byte(a.body)); ok {
		d.add(orderMark(order.ID, order.Version), a.body)
		w.ledger.write(d)
	}
}
