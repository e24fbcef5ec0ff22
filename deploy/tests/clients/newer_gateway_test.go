//go:build clients

package clients_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// What the document does not list.
const (
	unknownCode      = "gift_embargoed"
	unknownFieldCode = "embargoed"
	unknownType      = "order.teleported"
)

type object = map[string]any

// newerGateway answers with codes, a type of event and a member that were added after the document was written. It returns its URL.
func newerGateway(t *testing.T, p *harness.Platform) string {
	t.Helper()
	created := exampleOf(t, p, "order.created")
	created["data"].(object)["mood"] = "jolly"
	teleported := exampleOf(t, p, "order.created")
	teleported["type"], teleported["data"] = unknownType, object{"from": "Stockholm", "to": object{"planet": "Mars"}}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /orders", func(w http.ResponseWriter, r *http.Request) {
		assert.NotEmpty(t, r.Header.Get("Idempotency-Key"))
		answer(t, w, "application/problem+json", http.StatusUnprocessableEntity, object{
			"type": "https://gifts.test/docs/errors#" + unknownCode, "title": "Gift embargoed", "status": http.StatusUnprocessableEntity,
			"code": unknownCode, "detail": "The gift is under an embargo.",
			"errors": []object{{"field": "items[0].productId", "code": unknownFieldCode, "message": "is under an embargo"}},
		})
	})
	mux.HandleFunc("GET /events", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Feed-Position", "end")
		answer(t, w, "application/json", http.StatusOK, object{"items": []object{created, teleported}, "nextCursor": "ZTE6NDI"})
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// exampleOf is an event of the type as the document shows it.
func exampleOf(t *testing.T, p *harness.Platform, eventType string) object {
	t.Helper()
	var document struct {
		Webhooks map[string]struct {
			Post struct {
				RequestBody struct {
					Content map[string]struct {
						Examples map[string]struct{ Value object }
					}
				}
			}
		}
	}
	served := harness.Visit(t, p.Env["GIFTING_URL"]+"/openapi.json")
	require.NoError(t, json.Unmarshal([]byte(served.Body), &document))
	return document.Webhooks[eventType].Post.RequestBody.Content["application/json"].Examples["event"].Value
}

func answer(t *testing.T, w http.ResponseWriter, contentType string, status int, body object) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	assert.NoError(t, json.NewEncoder(w).Encode(body))
}
