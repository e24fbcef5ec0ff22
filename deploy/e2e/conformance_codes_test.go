package e2e_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func (p *platform) promisesOfCodes(t *testing.T) {
	s := p.newShop(t, false)
	const refused = http.StatusBadRequest
	for _, c := range []struct{ promise, path, body, fault string }{
		{"a missing required field is invalid_request", "/personal-links:create-batch", `{"recipients": [{"label": "x"}]}`, "campaignId required"},
		{"a wrong type is invalid_request", batches, `{"campaignId": 1, "recipients": [{"label": "x"}]}`, "campaignId invalid"},
		{"an unreadable id in query or body is invalid_request", batches, `{"campaignId": "x", "recipients": [{"label": "x"}]}`, "campaignId invalid"},
	} {
		t.Run(c.promise, func(t *testing.T) {
			require.Equal(t, []string{c.fault}, faults(t, requireProblem(t, s.post(t, s.key, c.path, c.body), refused, "invalid_request")))
			query := requireProblem(t, s.get(t, s.key, "/orders?brandId=x"), refused, "invalid_request")
			require.Equal(t, []string{"brandId invalid"}, faults(t, query))
		})
	}
	t.Run("invalid JSON is invalid_request", func(t *testing.T) {
		for _, body := range []string{"{", "[]", `"x"`, "{} {}", `{"urgent": true, "urgent": false}`, "\xff", ""} {
			requireProblem(t, s.post(t, s.key, "/orders", body), refused, "invalid_request")
		}
	})
	t.Run("method_not_allowed is 405 for a path that exists", func(t *testing.T) {
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
			a := s.do(t, call{method: method, path: "/orders", key: s.key})
			requireProblem(t, a, http.StatusMethodNotAllowed, "method_not_allowed")
			require.Equal(t, "GET, HEAD, POST", a.header.Get("Allow"))
		}
	})
	t.Run("not_acceptable is 406 when Accept excludes JSON", func(t *testing.T) {
		a := s.do(t, call{method: http.MethodGet, path: "/me", key: s.key, header: map[string]string{"Accept": "text/html"}})
		requireProblem(t, a, http.StatusNotAcceptable, "not_acceptable")
		for _, accept := range []string{"*/*", "application/*", "application/json", "text/html, application/json;q=0.1"} {
			a := s.do(t, call{method: http.MethodGet, path: "/me", key: s.key, header: map[string]string{"Accept": accept}})
			require.Equal(t, http.StatusOK, a.status, accept)
		}
	})
	t.Run("not_acceptable is not for images, whose errors are problems whatever Accept says", func(t *testing.T) {
		gift := s.richGift(t)
		s.putProduct(t, gift)
		image, _ := s.gift(t, gift.GetId(), "country=SE")["images"].([]any)[0].(map[string]any)["url"].(string)
		for _, accept := range []string{"text/html", "image/webp", "application/json;q=0, image/*", "*/*;q=0"} {
			header := map[string]string{"Accept": accept}
			require.Equal(t, http.StatusOK, p.image(t, http.MethodGet, image, header).status, accept)
			unknown := call{method: http.MethodGet, path: "/catalog/images/" + uuid.NewString(), header: header}
			requireProblem(t, s.do(t, unknown), http.StatusNotFound, "not_found")
		}
	})
	s.promisesOfBodies(t)
	t.Run("idempotency_key_reused is 422", func(t *testing.T) {
		request := call{method: http.MethodPost, path: "/orders", key: s.key, idempotencyKey: rand.Text(), body: s.body(t)}
		require.Equal(t, http.StatusCreated, s.do(t, request).status)
		for _, other := range []call{{path: "/orders", body: s.body(t)}, {path: batches, body: s.batchOf(t)}} {
			other.method, other.key, other.idempotencyKey = http.MethodPost, s.key, request.idempotencyKey
			requireProblem(t, s.do(t, other), http.StatusUnprocessableEntity, "idempotency_key_reused")
		}
	})
	t.Run("required says that a field is missing or blank", func(t *testing.T) {
		s.refuse(t, s.body(t, without("client.name")), "client.name required")
		s.refuse(t, s.body(t, with("client.name", "\t \u00a0")), "client.name required")
	})
	t.Run("invalid says that a field is malformed or not allowed", func(t *testing.T) {
		s.refuse(t, s.body(t, with("client.email", "ann@")), "client.email invalid")
		s.refuse(t, s.body(t, custom("1.00", "SEK"), with("campaignId", uuid.NewString())), "campaignId invalid")
	})
}

// promisesOfBodies is of their size.
func (s *shop) promisesOfBodies(t *testing.T) {
	t.Run("payload_too_large is 413 above 10 MB and nothing runs", func(t *testing.T) {
		id, key := fresh(20), rand.Text()
		request := call{method: http.MethodPost, path: "/orders", key: s.key, idempotencyKey: key}
		request.body = s.body(t, with("externalOrderId", id), with("padding", strings.Repeat("x", 10<<20)))
		requireProblem(t, s.send(t, request), http.StatusRequestEntityTooLarge, "payload_too_large")
		require.Empty(t, s.list(t, s.key, "/orders?externalOrderId="+id))
		request.body = s.body(t, with("externalOrderId", id))
		require.Equal(t, http.StatusCreated, s.do(t, request).status, "its key is free")
	})
	t.Run("a body of 10 MB is read and one above is not", func(t *testing.T) {
		body := s.body(t)
		padded := strings.TrimSuffix(strings.TrimSpace(body), "}") + strings.Repeat(" ", 10<<20-len(strings.TrimSpace(body))) + "}"
		require.Len(t, padded, 10<<20)
		request := call{method: http.MethodPost, path: "/orders", key: s.key, body: padded}
		require.Equal(t, http.StatusCreated, s.send(t, request).status)
		request.body += " "
		requireProblem(t, s.send(t, request), http.StatusRequestEntityTooLarge, "payload_too_large")
	})
}
