package harness

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
)

// Slow is the default limit of a wait.
const Slow = 20 * time.Second

// Event is an item of the feed, with its bytes in the page.
type Event struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Data json.RawMessage
	Raw  string
}

// Object is the event as it was sent.
func (e Event) Object(t *testing.T) map[string]any {
	t.Helper()
	return Object(t, []byte(e.Raw))
}

// Record is the event's data.
func (e Event) Record(t *testing.T) map[string]any {
	t.Helper()
	return Object(t, e.Data)
}

// About reports whether the event shows the order or the link with the id.
func (e Event) About(id string) bool {
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

// Feed reads all events that the key may see.
func (p *Platform) Feed(t *testing.T, key string) []Event {
	t.Helper()
	events, ok := p.TryFeed(t, key)
	require.True(t, ok, "the feed does not respond")
	return events
}

// TryFeed is Feed for tests that poll so often that the rate limit may refuse.
func (p *Platform) TryFeed(t *testing.T, key string) (events []Event, ok bool) {
	t.Helper()
	const first = "/events?limit=100"
	for path := first; ; {
		a := p.Get(t, key, path)
		if a.Status != http.StatusOK {
			return nil, false
		}
		var page struct {
			Items      []json.RawMessage `json:"items"`
			NextCursor *string           `json:"nextCursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.Body), &page))
		for _, item := range page.Items {
			e := Event{Raw: string(item)}
			require.NoError(t, json.Unmarshal(item, &e))
			events = append(events, e)
		}
		if len(page.Items) == 0 || page.NextCursor == nil {
			return events, true
		}
		path = first + "&after=" + *page.NextCursor
	}
}

// RebuildOrders reads the orders in the feed of the key. The versions of an order must have no gap.
func (p *Platform) RebuildOrders(t *testing.T, key string) map[any]map[string]any {
	t.Helper()
	rebuilt, next := map[any]map[string]any{}, map[any]float64{}
	for _, e := range p.Feed(t, key) {
		order := e.Record(t)
		switch e.Type {
		case "order.created", "order.updated":
		case "order.status_changed":
			order, _ = order["order"].(map[string]any)
		default:
			continue
		}
		require.InDelta(t, next[order["id"]], order["version"], 0, "the next version")
		next[order["id"]]++
		rebuilt[order["id"]] = order
	}
	return rebuilt
}

// Await waits for an event whose bytes contain all the texts.
func (p *Platform) Await(t *testing.T, key string, within time.Duration, texts ...string) Event {
	t.Helper()
	var found Event
	require.Eventually(t, func() bool {
		events, _ := p.TryFeed(t, key)
		i := slices.IndexFunc(events, func(e Event) bool {
			return !slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(e.Raw, text) })
		})
		if i >= 0 {
			found = events[i]
		}
		return i >= 0
	}, within, 100*time.Millisecond, "the feed has no event with %v", texts)
	return found
}

// Deliveries are the webhooks that have arrived at the path of the demo's receiver, oldest first.
func (p *Platform) Deliveries(t *testing.T, path string) []inbox.Delivery {
	t.Helper()
	var all []inbox.Delivery
	a := Visit(t, p.Env["GIFTING_INBOX_URL"]+"?path="+path)
	require.NoError(t, json.Unmarshal([]byte(a.Body), &all), a.Body)
	return all
}

// Validate checks webhooks that have arrived against the OpenAPI document.
func (p *Platform) Validate(t *testing.T, arrived ...inbox.Delivery) {
	t.Helper()
	for _, d := range arrived {
		header := http.Header{}
		for name, value := range d.Headers {
			header.Set(name, value)
		}
		kind, _ := Object(t, []byte(d.Raw))["type"].(string)
		assert.NoError(t, p.contract(t).Webhook(kind, header, []byte(d.Raw)))
	}
}
