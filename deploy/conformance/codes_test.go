package conformance_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func testCodes(t *testing.T, p *platform) {
	f := newFixture(t, p)
	for _, c := range []struct{ id, path, body, violation string }{
		{"ERR-51", "/personal-links:create-batch", `{"recipients": [{"label": "x"}]}`, "campaignId required"},
		{"ERR-53", batches, `{"campaignId": 1, "recipients": [{"label": "x"}]}`, "campaignId invalid"},
		{"ERR-54", batches, `{"campaignId": "x", "recipients": [{"label": "x"}]}`, "campaignId invalid"},
	} {
		requirement(t, c.id, func(t *testing.T) {
			f.Post(t, f.key, c.path, c.body).Invalid(t, c.violation)
			f.Get(t, f.key, "/orders?brandId=x").Invalid(t, "brandId invalid")
		})
	}
	requirement(t, "ERR-52", func(t *testing.T) {
		for _, body := range []string{"{", "[]", `"x"`, "{} {}", `{"urgent": true, "urgent": false}`, "\xff", "", "null"} {
			f.Post(t, f.key, "/orders", body).Problem(t, "invalid_request")
		}
	})
	requirement(t, "ERR-16", func(t *testing.T) {
		for _, method := range []string{http.MethodPut, http.MethodPatch, http.MethodDelete} {
			f.Do(t, call{Method: method, Path: "/orders", Key: f.key}).Problem(t, "method_not_allowed")
		}
	})
	requirement(t, "ERR-17", func(t *testing.T) {
		html := call{Method: http.MethodGet, Path: "/me", Key: f.key, Header: map[string]string{"Accept": "text/html"}}
		f.Do(t, html).Problem(t, "not_acceptable")
	})
	f.testBodies(t)
	requirement(t, "ERR-26", func(t *testing.T) {
		request := f.postCall("/orders", f.body(t))
		request.IdempotencyKey = rand.Text()
		require.Equal(t, http.StatusCreated, f.Do(t, request).Status)
		for path, body := range map[string]string{"/orders": f.body(t), batches: f.batchOf(t)} {
			request.Path, request.Body = path, body
			f.Do(t, request).Problem(t, "idempotency_key_reused")
		}
	})
	requirement(t, "FCO-1", func(t *testing.T) {
		f.invalid(t, "client.name required", without("client.name"))
		f.invalid(t, "client.name required", with("client.name", "\t \u00a0"))
	})
	requirement(t, "FCO-2", func(t *testing.T) {
		f.invalid(t, "client.email invalid", with("client.email", "ann@"))
		f.invalid(t, "campaignId invalid", custom("1.00", "SEK"), with("campaignId", uuid.NewString()))
	})
}

// testBodies is about their size.
func (f *fixture) testBodies(t *testing.T) {
	requirement(t, "ERR-24", func(t *testing.T) {
		id := freshText(20)
		request := f.postCall("/orders", f.body(t, with("externalOrderId", id), with("padding", strings.Repeat("x", 10<<20))))
		request.IdempotencyKey = rand.Text()
		f.Send(t, request).Problem(t, "payload_too_large")
		require.Empty(t, f.list(t, f.key, "/orders?externalOrderId="+id))
		request.Body = f.body(t, with("externalOrderId", id))
		require.Equal(t, http.StatusCreated, f.Do(t, request).Status, "its key is free")
	})
	requirement(t, "ERR-63", func(t *testing.T) {
		body := strings.TrimSpace(f.body(t))
		request := f.postCall("/orders", strings.Repeat(" ", 10<<20-len(body))+body)
		require.Equal(t, http.StatusCreated, f.Send(t, request).Status)
		request.Body += " "
		f.Send(t, request).Problem(t, "payload_too_large")
	})
}
