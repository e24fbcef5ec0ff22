//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"time"
)

const notFound = "not_found"

// readFixed reads records that no writer changes, and checks their content.
func (w *writer) readFixed(ctx context.Context) {
	read := []struct{ path, want string }{
		{"/me", `"` + w.tenant + `"`},
		{"/catalog/products/" + w.product + "?country=SE", `"id":"` + w.product + `"`},
		{"/catalog/products?country=SE&limit=20", `"items":[{`},
		{"/brands", `[{`},
	}[w.random.IntN(4)]
	began := time.Now()
	a, ok := w.send(ctx, call{method: http.MethodGet, path: read.path})
	if !ok {
		return
	}
	w.results.require(strings.Contains(a.body, read.want), answers, began, time.Now(), "%s answers %s", read.path, a.body)
}

// readForeign reads or changes a record that the key may not see: another tenant's or another brand's. The response must be not
// found. Sometimes it reads a list instead.
func (w *writer) readForeign(ctx context.Context) {
	if w.random.IntN(3) == 0 {
		w.readList(ctx)
		return
	}
	began := time.Now()
	record, ok := w.history.anyRecord(w.other, w.random.Int())
	if w.limited && w.random.IntN(2) == 0 {
		record, ok = w.history.anyRecord(w.tenant, w.random.Int())
		ok = ok && record.BrandID != w.brand
	}
	if !ok {
		return
	}
	what := call{method: http.MethodGet, path: "/orders/" + record.ID, idempotencyKey: rand.Text(), problems: []string{notFound}}
	switch {
	case record.isLink():
		what.path = "/personal-links/" + record.ID
	case w.random.IntN(3) == 0:
		what.method, what.path, what.body = http.MethodPost, "/orders/"+record.ID+":cancel", `{"reason": "Not mine."}`
	case w.random.IntN(3) == 0:
		what.path += "/messages"
	}
	if a, ok := w.send(ctx, what); ok {
		w.results.require(a.code() == notFound, leak, began, time.Now(),
			"%s %s: a key sees a record that is not its own: %d %s", what.method, what.path, a.status, a.body)
	}
}

// readList reads a list: all records must be of the tenant, and of the key's brand.
func (w *writer) readList(ctx context.Context) {
	began := time.Now()
	path := []string{"/orders?limit=50", "/personal-links?limit=50"}[w.random.IntN(2)]
	a, ok := w.send(ctx, call{method: http.MethodGet, path: path})
	if !ok {
		return
	}
	records, _, err := parsePage(a.body, parseRecord)
	if err != nil {
		w.results.failed(answers, began, time.Now(), "%s: %v: %s", path, err, a.body)
	}
	for _, r := range records {
		own := slices.Contains(w.brands, r.BrandID) && (!w.limited || r.BrandID == w.brand)
		w.results.require(own, leak, began, time.Now(), "%s: a list shows what is not the key's own: %s", path, r.raw)
	}
}

// readBack reads an order that only this writer changes. It must equal the last response.
func (w *writer) readBack(ctx context.Context) {
	if len(w.orders) == 0 {
		return
	}
	o, began := w.orders[w.random.IntN(len(w.orders))], time.Now()
	if got, ok := w.get(ctx, "/orders/"+o.ID); ok {
		w.results.require(got.Version == o.Version && (o.raw == "" || sameJSON(got.raw, o.raw)), answers, began, time.Now(),
			"order %s is read as %s, and was answered as version %d %s", o.ID, got.raw, o.Version, o.raw)
	}
}

func (w *writer) get(ctx context.Context, path string) (snapshot, bool) {
	a, ok := w.send(ctx, call{method: http.MethodGet, path: path})
	if !ok {
		return snapshot{}, false
	}
	return w.parse([]byte(a.body))
}

func (w *writer) parse(raw []byte) (snapshot, bool) {
	s, err := parseRecord(raw)
	if err != nil {
		w.results.failed(answers, time.Now(), time.Now(), "%v: %s", err, raw)
	}
	return s, err == nil
}
