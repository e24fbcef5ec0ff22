package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
)

// slow bounds what has no promised time.
const slow = 20 * time.Second

func (p *platform) testEvents(t *testing.T) {
	// The key that places has a webhook too, so that what it must not receive could arrive.
	placing := p.newKey(t, p.receiver(t)+"/placing").GetApiKey()
	watching := p.env["GIFTING_KEY_2"]
	placed := p.post(t, placing, "/orders", p.order(t, nil))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	orderID, _ := placed.object(t)["id"].(string)
	event := p.eventually(t, watching, orderID, slow)
	delivery := p.awaitDelivery(t, event.ID)

	t.Run("stands in the feed with the order as its data", func(t *testing.T) {
		require.Equal(t, "order.created", event.Type)
		require.JSONEq(t, placed.body, string(event.Data))
	})
	t.Run("stands in the feed of the key that placed it, too", func(t *testing.T) {
		require.Equal(t, event.raw, p.eventually(t, placing, orderID, slow).raw)
	})
	t.Run("reaches the receiver verified", func(t *testing.T) {
		require.True(t, delivery.Verified)
		require.Equal(t, "application/json", delivery.Headers["Content-Type"])
	})
	t.Run("reaches the receiver within a second", func(t *testing.T) {
		// The machine may be busy with other tests: the best of a few counts.
		const tries = 3
		fastest := slow
		for range tries {
			fastest = min(fastest, p.placeAndAwait(t, placing))
		}
		require.Less(t, fastest, time.Second)
	})
	t.Run("is the same bytes by webhook and in the feed", func(t *testing.T) {
		require.Equal(t, event.raw, delivery.Raw)
		require.Equal(t, event.ID, delivery.Headers["Service-Event-Id"])
	})
	t.Run("is not sent to the key that placed it", func(t *testing.T) {
		// An order of the other key shows that the placing key's webhook works.
		after := p.post(t, watching, "/orders", p.order(t, nil))
		require.Equal(t, http.StatusCreated, after.status, after.body)
		id, _ := after.object(t)["id"].(string)
		reached := p.awaitDelivery(t, p.eventually(t, watching, id, slow).ID)
		require.Equal(t, "/placing", reached.Path)
		arrived := p.arrived(t, event.ID)
		require.Len(t, arrived, 1)
		require.Equal(t, "/webhooks", arrived[0].Path)
	})
	t.Run("no event and no webhook holds personal data", func(t *testing.T) {
		for _, e := range p.feed(t, watching) {
			requireNoPersonalData(t, e.raw)
		}
		requireNoPersonalData(t, delivery.Raw)
	})
	t.Run("stands in the order in which the answers came", func(t *testing.T) {
		var placed []string
		for range 10 {
			a := p.post(t, placing, "/orders", p.order(t, nil))
			require.Equal(t, http.StatusCreated, a.status, a.body)
			placed = append(placed, a.body)
		}
		last, _ := answer{body: placed[len(placed)-1]}.object(t)["id"].(string)
		p.eventually(t, placing, last, slow)
		all := p.feed(t, placing)
		for i, e := range all[len(all)-len(placed):] {
			require.JSONEq(t, placed[i], string(e.Data))
		}
	})
}

// placeAndAwait gives the time from the request to the arrival of its webhook.
func (p *platform) placeAndAwait(t *testing.T, key string) time.Duration {
	t.Helper()
	began := time.Now()
	placed := p.post(t, key, "/orders", p.order(t, nil))
	require.Equal(t, http.StatusCreated, placed.status, placed.body)
	id, _ := placed.object(t)["id"].(string)
	return p.awaitDelivery(t, p.eventually(t, key, id, slow).ID).ReceivedAt.Sub(began)
}

func (p *platform) awaitDelivery(t *testing.T, eventID string) inbox.Delivery {
	t.Helper()
	var found inbox.Delivery
	require.Eventually(t, func() bool {
		arrived := p.arrived(t, eventID)
		if len(arrived) > 0 {
			found = arrived[0]
		}
		return len(arrived) > 0
	}, slow, 50*time.Millisecond, "the receiver does not show the event")
	return found
}
