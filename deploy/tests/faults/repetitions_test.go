//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/deploy/local/seed"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// sent is a request with its final answer.
type sent struct {
	call   call
	answer answer
}

const (
	replayed = "Idempotent-Replayed"
	reused   = "idempotency_key_reused"
)

// sendConcurrently sends a call until it gets its final response, and copies of it concurrently. All final responses must be
// equal, and at most one may not be a replay.
func (c *client) sendConcurrently(ctx context.Context, what call, copies int) (answer, bool) {
	began, all := time.Now(), make([]answer, copies)
	var group sync.WaitGroup
	for i := range all {
		group.Go(func() {
			if a, err := c.try(ctx, what); err == nil {
				all[i] = a
			}
		})
	}
	first, ok := c.send(ctx, what)
	group.Wait()
	if !ok {
		return first, false
	}
	effects, violation := 0, ""
	for _, a := range append(all, first) {
		if a.final(what) && a.header.Get(replayed) == "" {
			effects++
		}
		if a.final(what) && (a.status != first.status || a.body != first.body) {
			violation = fmt.Sprintf(": one request has two answers: %d %s and %d %s", first.status, first.body, a.status, a.body)
		}
	}
	c.results.require(effects <= 1 && violation == "", effect, began, time.Now(), "%s had %d effects%s", what.path, effects, violation)
	return first, true
}

// repeat sends an old request again, either unchanged, which must be replayed, or with another body, which must be refused.
func (w *writer) repeat(ctx context.Context) {
	if len(w.requests) == 0 {
		return
	}
	old, began := w.requests[w.random.IntN(len(w.requests))], time.Now()
	what := old.call
	changed := w.random.IntN(5) == 0
	if changed {
		what.body, what.problems = strings.Replace(what.body, "{", `{"unknown": 1, `, 1), []string{reused}
	}
	got, ok := w.send(ctx, what)
	switch equal := got.status == old.answer.status && got.body == old.answer.body && got.header.Get(replayed) == "true"; {
	case ok && changed:
		w.results.require(got.code() == reused, effect, began, time.Now(),
			"%s: another request with the key was answered %d %s", what.path, got.status, got.body)
	case ok:
		w.results.require(equal, effect, began, time.Now(),
			"%s: the repetition was answered %d %s instead of %d %s", what.path, got.status, got.body, old.answer.status, old.answer.body)
	}
}

// burst is how many copies of a request are sent concurrently.
const burst = 100

// sendBursts places orders, each by a burst of identical requests with its own API key.
func (w *writer) sendBursts(ctx context.Context, d *deployment) {
	for ctx.Err() == nil {
		w.gate.RLock()
		if r, err := d.createKey(ctx, "burst", w.tenant, "", allScopes...); err == nil {
			w.sendBurst(context.WithoutCancel(ctx), w.with(r.key), r.keyID)
		}
		w.gate.RUnlock()
		sleep(ctx, time.Duration(w.random.Int64N(int64(4*meanPause))))
	}
}

func (w *writer) sendBurst(ctx context.Context, by *client, keyID int32) {
	c := change{tenant: w.tenant, keyID: keyID, requested: time.Now()}
	body := toJSON(orderBody(w.product, w.brand))
	a, ok := by.sendConcurrently(ctx, call{method: http.MethodPost, path: "/orders", body: body, idempotencyKey: "burst"}, burst)
	if !ok {
		return
	}
	c.answered = time.Now()
	if order, ok := w.parse([]byte(a.body)); ok {
		c.add(orderEvent(order.ID, order.Version), a.body)
		w.history.add(c)
	}
}

const invalidKey = "invalid_api_key"

// revokeKeys makes keys, uses them, and revokes them. Once that was answered, they must be refused.
func (f *fixture) revokeKeys(ctx context.Context) {
	for ctx.Err() == nil {
		f.gate.RLock()
		f.revokeKey(context.WithoutCancel(ctx))
		f.gate.RUnlock()
		sleep(ctx, meanPause)
	}
}

func (f *fixture) revoke(ctx context.Context, r reader) {
	for revoked := false; !revoked; {
		try, cancel := context.WithTimeout(ctx, tryTimeout)
		_, err := f.keys.RevokeKey(try, &tenantsv1.RevokeKeyRequest{Actor: staff, TenantId: r.tenant, KeyId: r.keyID})
		cancel()
		f.count("revoke " + status.Code(err).String())
		if revoked = err == nil || status.Code(err) == codes.NotFound; !revoked {
			sleep(ctx, retryInterval)
		}
	}
}

func (f *fixture) revokeKey(ctx context.Context) {
	r, err := f.createKey(ctx, "revoked", seed.Direct, "", allScopes...)
	if err != nil {
		return
	}
	by, what := f.client.with(r.key), call{method: http.MethodGet, path: "/orders?limit=1"}
	for range by.bases { // Now each gateway caches it.
		if _, ok := by.send(ctx, what); !ok {
			return
		}
	}
	f.revoke(ctx, r)
	what.problems = []string{invalidKey}
	for range by.bases {
		began := time.Now()
		a, ok := by.send(ctx, what)
		f.require(!ok || a.code() == invalidKey, leak, began, time.Now(), "key %d was revoked and sees %s", r.keyID, a.body)
	}
}
