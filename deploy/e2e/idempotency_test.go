package e2e_test

import (
	"crypto/rand"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
)

// testIdempotencyKeys uses one Idempotency-Key for operations of several services: it names one request of them all.
func (p *platform) testIdempotencyKeys(t *testing.T) {
	placing := func(key, idempotencyKey, order string) answer {
		return p.do(t, call{method: http.MethodPost, path: "/orders", key: key, idempotencyKey: idempotencyKey, body: order})
	}
	sendTest := func(key, idempotencyKey, body string) answer {
		return p.do(t, call{method: http.MethodPost, path: "/webhooks:test", key: key, idempotencyKey: idempotencyKey, body: body})
	}
	t.Run("a key that placed an order sends no test", func(t *testing.T) {
		at, idempotencyKey := "/"+rand.Text(), rand.Text()
		key := p.receiving(t, at)
		placed := placing(key, idempotencyKey, p.order(t, nil))
		require.Equal(t, http.StatusCreated, placed.status, placed.body)
		requireProblem(t, sendTest(key, idempotencyKey, ""), http.StatusUnprocessableEntity, "idempotency_key_reused")
		require.Empty(t, p.pings(t, at))
	})
	t.Run("a key that sent a test places no order", func(t *testing.T) {
		at, idempotencyKey := "/"+rand.Text(), rand.Text()
		key := p.receiving(t, at)
		order := p.order(t, nil)
		sent := sendTest(key, idempotencyKey, "")
		require.Equal(t, http.StatusOK, sent.status, sent.body)
		requireProblem(t, placing(key, idempotencyKey, order), http.StatusUnprocessableEntity, "idempotency_key_reused")
		placed := placing(key, rand.Text(), order)
		require.Equal(t, http.StatusCreated, placed.status, "nothing was placed under the order's id: %s", placed.body)
		again := sendTest(key, idempotencyKey, "")
		require.Equal(t, sent.body, again.body)
		require.Equal(t, "true", again.header.Get("Idempotent-Replayed"))
		require.Len(t, p.pings(t, at), 1)
	})
	t.Run("after a 400 the key is free for the other operation", func(t *testing.T) {
		key, idempotencyKey := p.env["GIFTING_KEY"], rand.Text()
		requireProblem(t, sendTest(key, idempotencyKey, "["), http.StatusBadRequest, "invalid_request")
		requireProblem(t, placing(key, idempotencyKey, "{}"), http.StatusBadRequest, "invalid_request")
		require.Equal(t, http.StatusOK, sendTest(key, idempotencyKey, "").status)
	})
	t.Run("after a 400 on a test an order may have the key", func(t *testing.T) {
		key, idempotencyKey := p.env["GIFTING_KEY"], rand.Text()
		requireProblem(t, sendTest(key, idempotencyKey, "["), http.StatusBadRequest, "invalid_request")
		placed := placing(key, idempotencyKey, p.order(t, nil))
		require.Equal(t, http.StatusCreated, placed.status, placed.body)
	})
	t.Run("another API key has keys of its own", func(t *testing.T) {
		idempotencyKey := rand.Text()
		placed := placing(p.env["GIFTING_KEY"], idempotencyKey, p.order(t, nil))
		require.Equal(t, http.StatusCreated, placed.status, placed.body)
		require.Equal(t, http.StatusOK, sendTest(p.env["GIFTING_KEY_2"], idempotencyKey, "").status)
	})
}

// receiving is a new key whose webhooks go to the path of the stack's receiver.
func (p *platform) receiving(t *testing.T, path string) string {
	t.Helper()
	return p.newKey(t, p.receiver(t)+path).GetApiKey()
}

// pings gives the tests that arrived at the path of the stack's receiver.
func (p *platform) pings(t *testing.T, path string) []inbox.Delivery {
	t.Helper()
	return slices.DeleteFunc(p.deliveries(t), func(d inbox.Delivery) bool {
		return d.Path != path || answer{body: d.Raw}.object(t)["type"] != "ping"
	})
}
