package e2e_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// body is an order of the brand for the demo's gift after the changes.
func (s *shop) body(t *testing.T, changes ...change) string {
	t.Helper()
	return s.order(t, func(order map[string]any) {
		order["brandId"] = s.brand
		for _, change := range changes {
			change(order)
		}
	})
}

// place gives the order as it was answered.
func (s *shop) place(t *testing.T, changes ...change) map[string]any {
	t.Helper()
	placed := s.post(t, s.key, "/orders", s.body(t, changes...))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	return placed.object(t)
}

// refuse demands that the order is invalid for the faults, each a field and its code, and for nothing else.
func (s *shop) refuse(t *testing.T, body string, want ...string) {
	t.Helper()
	problem := requireProblem(t, s.post(t, s.key, "/orders", body), http.StatusBadRequest, "invalid_request")
	require.ElementsMatch(t, want, faults(t, problem))
}

// refuseAs demands that the order is refused with the code.
func (s *shop) refuseAs(t *testing.T, status int, code string, changes ...change) map[string]any {
	t.Helper()
	return requireProblem(t, s.post(t, s.key, "/orders", s.body(t, changes...)), status, code)
}

// read gives the record at the path.
func (s *shop) read(t *testing.T, path string) map[string]any {
	t.Helper()
	a := s.get(t, s.key, path)
	require.Equal(t, http.StatusOK, a.status, a.body)
	return a.object(t)
}

// list gives the items of a page.
func (s *shop) list(t *testing.T, key, path string) []map[string]any {
	t.Helper()
	a := s.get(t, key, path)
	require.Equal(t, http.StatusOK, a.status, a.body)
	return a.items(t)
}

// items reads those of a page.
func (a answer) items(t *testing.T) []map[string]any {
	t.Helper()
	var page struct {
		Items []map[string]any `json:"items"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &page), a.body)
	return page.Items
}

// all follows the pages of a list whose query is not empty.
func (s *shop) all(t *testing.T, key, first string) []map[string]any {
	t.Helper()
	var out []map[string]any
	for path := first; ; {
		a := s.get(t, key, path)
		require.Equal(t, http.StatusOK, a.status, a.body)
		var page struct {
			Items      []map[string]any `json:"items"`
			NextCursor *string          `json:"nextCursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &page), a.body)
		out = append(out, page.Items...)
		if page.NextCursor == nil {
			return out
		}
		path = first + "&after=" + *page.NextCursor
	}
}

// ids gives those of the records, in their order.
func ids(records []map[string]any) []any {
	out := make([]any, len(records))
	for i, record := range records {
		out[i] = record["id"]
	}
	return out
}

// recorded waits until the feed of the key has events of the record with these types, no more and no fewer, in order.
func (s *shop) recorded(t *testing.T, key, recordID string, kinds ...string) []event {
	t.Helper()
	var found []event
	require.Eventually(t, func() bool {
		found = found[:0]
		events, ok := s.tryFeed(t, key)
		for _, e := range events {
			if e.about(recordID) {
				found = append(found, e)
			}
		}
		return ok && len(found) >= len(kinds)
	}, slow, 50*time.Millisecond, "the feed has not %v", kinds)
	got := make([]string, len(found))
	for i, e := range found {
		got[i] = e.Type
	}
	require.Equal(t, kinds, got)
	return found
}

// about says whether the event's record is the one with the id.
func (e event) about(id string) bool {
	var data struct {
		ID      string `json:"id"`
		OrderID string `json:"orderId"`
		Order   struct {
			ID string `json:"id"`
		} `json:"order"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(e.Data, &data) != nil {
		return false
	}
	return data.ID == id || data.Order.ID == id || data.Message != nil && data.OrderID == id
}

func idOf(record map[string]any) string {
	id, _ := record["id"].(string)
	return id
}

// fresh is text of the length in characters that no other test has.
func fresh(length int) string {
	out := []rune(rand.Text())
	for len(out) < length {
		out = append(out, 'å')
	}
	return string(out[:length])
}

// address is an e-mail address of the length.
func address(length int) string {
	const domain = "@example.org"
	local := make([]byte, length-len(domain))
	for i := range local {
		local[i] = 'a'
	}
	return string(local) + domain
}
