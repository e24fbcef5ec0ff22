//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"time"
)

const notFound = "not_found"

// intrude asks for what the key may not see: a record of another tenant or brand answers as if it did not exist, and a
// list has none.
func (w *writer) intrude(ctx context.Context) {
	began := time.Now()
	if w.random.IntN(3) == 0 {
		w.lookAround(ctx)
		return
	}
	victim, ok := w.ledger.anyOf(w.other, w.random.Int())
	if w.limited && w.random.IntN(2) == 0 {
		victim, ok = w.ledger.anyOf(w.tenant, w.random.Int())
		ok = ok && victim.BrandID != w.brand
	}
	if !ok {
		return
	}
	what := call{method: http.MethodGet, path: "/orders/" + victim.ID, idempotencyKey: rand.Text(), may: []string{notFound}}
	switch {
	case victim.isLink():
		what.path = "/personal-links/" + victim.ID
	case w.random.IntN(3) == 0:
		what.method, what.path, what.body = http.MethodPost, "/orders/"+victim.ID+":cancel", `{"reason": "Not mine."}`
	case w.random.IntN(3) == 0:
		what.path += "/messages"
	}
	a, ok := w.exchange(ctx, what)
	if !ok {
		return
	}
	wrong := ""
	if a.code() != notFound {
		wrong = fmt.Sprintf("%s %s: a key sees what is not its own: %d %s", what.method, what.path, a.status, a.body)
	}
	w.verdict.hold(leak, began, time.Now(), wrong)
}

// lookAround reads a list: all in it is of the tenant, and of the key's brand.
func (w *writer) lookAround(ctx context.Context) {
	began := time.Now()
	path := []string{"/orders?limit=50", "/personal-links?limit=50"}[w.random.IntN(2)]
	a, ok := w.exchange(ctx, call{method: http.MethodGet, path: path})
	if !ok {
		return
	}
	records := map[string]snapshot{}
	if _, err := readList(a.body, records); err != nil {
		w.verdict.broken(answers, began, time.Now(), "%s: %v: %s", path, err, a.body)
	}
	wrong := ""
	for _, r := range records {
		if w.limited && r.BrandID != w.brand || !slices.Contains(w.brands, r.BrandID) {
			wrong = fmt.Sprintf("%s: a list has what is not the key's own: %s", path, r.raw)
		}
	}
	w.verdict.hold(leak, began, time.Now(), wrong)
}
