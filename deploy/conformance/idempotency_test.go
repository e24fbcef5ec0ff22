package conformance_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

func testIdempotency(t *testing.T, p *platform) {
	f := newFixture(t, p)
	send := func(t *testing.T, key, idempotencyKey, path, body string) answer {
		t.Helper()
		return f.Do(t, call{Method: http.MethodPost, Path: path, Key: key, IdempotencyKey: idempotencyKey, Body: body})
	}
	created := func(t *testing.T, a answer) answer {
		t.Helper()
		require.Equal(t, http.StatusCreated, a.Status, a.Body)
		return a
	}
	requireReplayed := func(t *testing.T, first, again answer) {
		t.Helper()
		require.Equal(t, []any{first.Status, first.Body, "true"}, []any{again.Status, again.Body, again.Header.Get("Idempotent-Replayed")})
		require.Empty(t, first.Header.Get("Idempotent-Replayed"))
	}
	requirement(t, "CHO-19", func(t *testing.T) {
		key := rand.Text()
		created(t, send(t, f.key, key, "/orders", f.body(t)))
		created(t, send(t, f.newKey(t), key, "/orders", f.body(t)))
	})
	requirement(t, "CHO-20", func(t *testing.T) {
		key, external := rand.Text(), freshText(20)
		recipient := `{"name": "Ann", "phone": "+46701112233", "address": {"street": "S", "city": "C", "postalCode": "1", "country": "SE"}}`
		members := []string{
			`"externalOrderId": "` + external + `"`, `"brandId": "` + f.brand + `"`, `"items": [{"productId": "` + f.product + `"}]`,
			`"client": {"name": "Ann"}`, `"recipient": ` + recipient,
		}
		first := created(t, send(t, f.key, key, "/orders", "{"+strings.Join(members, ", ")+"}"))
		members[0], members[4] = members[4], members[0]
		requireReplayed(t, first, send(t, f.key, key, "/orders", "{\n"+strings.Join(members, " ,\n\t")+"}"))
	})
	requirement(t, "CHO-21", func(t *testing.T) {
		key, body := rand.Text(), f.body(t)
		requireReplayed(t, created(t, send(t, f.key, key, "/orders", body)), send(t, f.key, `"`+key+`"`, "/orders", body))
	})
	requirement(t, "CHO-22", func(t *testing.T) {
		body, invalid := f.body(t), f.body(t, without("brandId"))
		key := rand.Text()
		requireReplayed(t, created(t, send(t, f.key, key, "/orders", body)), send(t, f.key, key, "/orders", body))
		for refused, code := range map[string]problem.Code{body: "external_order_id_conflict", invalid: "brand_required"} {
			key := rand.Text()
			first := send(t, f.key, key, "/orders", refused)
			first.Problem(t, code)
			requireReplayed(t, first, send(t, f.key, key, "/orders", refused))
		}
	})
	requirement(t, "CHO-23", func(t *testing.T) {
		key := rand.Text()
		send(t, f.key, key, "/webhooks:test", "[").Problem(t, "invalid_request")
		send(t, f.key, key, "/orders", "{}").Problem(t, "invalid_request")
		created(t, send(t, f.key, key, "/orders", f.body(t)))
	})
	requirement(t, "CHO-57", func(t *testing.T) {
		inboxURL(t, p)
		r, key, order := f.newReceiver(t), rand.Text(), f.body(t)
		sent := send(t, r.key, key, "/webhooks:test", "")
		require.Equal(t, http.StatusOK, sent.Status, sent.Body)
		send(t, r.key, key, "/orders", order).Problem(t, "idempotency_key_reused")
		created(t, send(t, f.key, rand.Text(), "/orders", order)) // Its externalOrderId is free.
		requireReplayed(t, sent, send(t, r.key, key, "/webhooks:test", ""))
		require.Equal(t, 1, pings(t, r))
	})
	t.Run("a key that placed an order sends no test", func(t *testing.T) {
		inboxURL(t, p)
		r, key := f.newReceiver(t), rand.Text()
		created(t, send(t, r.key, key, "/orders", f.body(t)))
		send(t, r.key, key, "/webhooks:test", "").Problem(t, "idempotency_key_reused")
		require.Zero(t, pings(t, r))
	})
}

// pings counts the tests that have arrived.
func pings(t *testing.T, r *receiver) (n int) {
	t.Helper()
	for _, d := range r.all(t) {
		if strings.Contains(d.Raw, `"type":"ping"`) {
			n++
		}
	}
	return n
}
