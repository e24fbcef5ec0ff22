//go:build faults

package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// browse reads what no writer changes, and knows what it has to find.
func (w *writer) browse(ctx context.Context) {
	what := []struct{ path, member, want string }{
		{"/me", "tenant", w.tenant},
		{"/catalog/products/" + w.product + "?country=SE", "id", w.product},
		{"/catalog/products?country=SE&limit=20", "items", ""},
		{"/brands", "", ""},
	}[w.random.IntN(4)]
	began := time.Now()
	a, ok := w.exchange(ctx, call{method: http.MethodGet, path: what.path})
	if !ok {
		return
	}
	wrong := ""
	if what.want != "" && a.named(what.member) != what.want {
		wrong = fmt.Sprintf("%s answers %s", what.path, a.body)
	}
	if what.want == "" && a.length(what.member) == 0 {
		wrong = what.path + " is empty"
	}
	w.verdict.hold(answers, began, time.Now(), wrong)
}
