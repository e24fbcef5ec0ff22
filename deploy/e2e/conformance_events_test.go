package e2e_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

func (p *platform) promisesOfEvents(t *testing.T) {
	s, waiting := p.newShop(t, false), p.newShop(t, true)
	const created, updated, statusChanged = "order.created", "order.updated", "order.status_changed"
	order := s.place(t)
	placed := s.recorded(t, s.key, idOf(order), created)[0]
	t.Run("an envelope has id, type, occurredAt, environment and data", func(t *testing.T) {
		envelope := answer{body: placed.raw}.object(t)
		require.ElementsMatch(t, []string{"id", "type", "occurredAt", "environment", "data"}, namesOf(envelope))
		require.NoError(t, uuid.Validate(placed.ID))
		require.Regexp(t, instant, envelope["occurredAt"])
	})
	t.Run("occurredAt is the time of the change", func(t *testing.T) {
		require.Equal(t, order["updatedAt"], answer{body: placed.raw}.object(t)["occurredAt"])
	})
	link := s.claimed(t)
	claimedOrder := s.read(t, "/orders/"+link["orderId"].(string))
	t.Run("order.created holds the order, of a claim too", func(t *testing.T) {
		require.JSONEq(t, s.get(t, s.key, "/orders/"+idOf(order)).body, string(placed.Data))
		ofClaim := s.recorded(t, s.key, idOf(claimedOrder), created)[0]
		require.JSONEq(t, s.get(t, s.key, "/orders/"+idOf(claimedOrder)).body, string(ofClaim.Data))
	})
	t.Run("order.updated holds the order after delivery, comment, urgency or shipment changed", func(t *testing.T) {
		now := order
		for _, change := range []string{`"recipient": {"name": "Zoe"}`, `"courierComment": "Ring."`, `"urgent": true`} {
			now = s.update(t, now, change)
		}
		events := s.recorded(t, s.key, idOf(order), created, updated, updated, updated)
		require.Equal(t, now, answer{body: string(events[3].Data)}.object(t))
	})
	t.Run("order.status_changed holds the order and the status before", func(t *testing.T) {
		s.dispatch(t, idOf(order))
		s.changed(t, idOf(order), "PROCESSING", created, updated, updated, updated, statusChanged)
	})
	t.Run("an approval, a dispatch, a delivery, a cancellation and a correction of the status each send it", func(t *testing.T) {
		requested := waiting.place(t)
		require.NoError(t, waiting.approve(t, waiting.coordinator, idOf(requested)))
		waiting.dispatch(t, idOf(requested))
		waiting.correct(t, idOf(requested), 4)
		waiting.correct(t, idOf(requested), 2)
		waiting.cancel(t, "/orders/"+idOf(requested))
		var before []string
		for _, e := range waiting.recorded(t, waiting.key, idOf(requested), created, statusChanged, statusChanged, statusChanged, statusChanged, statusChanged)[1:] {
			status, _ := answer{body: string(e.Data)}.object(t)["previousStatus"].(string)
			before = append(before, status)
		}
		require.Equal(t, []string{"REQUESTED", "PROCESSING", "SENT", "COMPLETED", "PROCESSING"}, before)
	})
	t.Run("order.message_posted holds the order's ids and the message", func(t *testing.T) {
		s.write(t, idOf(order), clerk, "On its way.")
		events := s.recorded(t, s.key, idOf(order), created, updated, updated, updated, statusChanged, "order.message_posted")
		data := answer{body: string(events[5].Data)}.object(t)
		require.Equal(t, map[string]any{
			"orderId": order["id"], "externalOrderId": order["externalOrderId"], "message": any(s.messages(t, s.key, idOf(order))[0]),
		}, data)
	})
	s.promisesOfLinkEvents(t, waiting, link)
	s.promisesOfRecords(t, claimedOrder)
	s.promisesOfAudience(t, link)
	waiting.promiseOfSnapshots(t)
}

// promisesOfRecords is of which changes make an event, and of what is in it.
func (s *shop) promisesOfRecords(t *testing.T, claimedOrder map[string]any) {
	const created, statusChanged = "order.created", "order.status_changed"
	t.Run("every change is recorded whichever channel made it", func(t *testing.T) {
		for _, byPeople := range []map[string]any{s.placeAs(t, s.member), s.placeAs(t, clerk), s.place(t), claimedOrder} {
			s.recorded(t, s.key, idOf(byPeople), created)
		}
	})
	t.Run("a request that changes nothing records no event", func(t *testing.T) {
		quiet := s.place(t)
		cancelled := s.cancel(t, "/orders/"+idOf(quiet))
		require.Equal(t, cancelled, s.cancel(t, "/orders/"+idOf(quiet)))
		s.recorded(t, s.key, idOf(s.place(t)), created)
		s.recorded(t, s.key, idOf(quiet), created, statusChanged)
	})
	t.Run("the payloads are the records as they are read", func(t *testing.T) {
		for path, record := range map[string]map[string]any{"/orders/": s.place(t), "/personal-links/": s.link(t)} {
			var found event
			require.Eventually(t, func() bool {
				return slices.ContainsFunc(s.feed(t, s.key), func(e event) bool { found = e; return e.about(idOf(record)) })
			}, slow, 50*time.Millisecond)
			require.JSONEq(t, s.get(t, s.key, path+idOf(record)).body, string(found.Data))
		}
	})
}

// promisesOfLinkEvents is of the events of links.
func (s *shop) promisesOfLinkEvents(t *testing.T, waiting *shop, claimed map[string]any) {
	const created = "personal_link.created"
	t.Run("personal_link.created holds the link, one event for each", func(t *testing.T) {
		made := results(t, s.post(t, s.key, batches, s.batchOf(t, with("recipients", repeated(3, map[string]any{"label": "Ann"})))))
		for _, result := range made {
			s.shows(t, result.Link, created)
		}
	})
	requested := waiting.link(t)
	require.NoError(t, waiting.approveLink(t, waiting.coordinator, requested))
	approved := waiting.read(t, "/personal-links/"+idOf(requested))
	t.Run("personal_link.approved holds the link", func(t *testing.T) { waiting.shows(t, approved, created, "personal_link.approved") })
	t.Run("where the tenant approves a link is created REQUESTED and then approved", func(t *testing.T) {
		events := waiting.recorded(t, waiting.key, idOf(requested), created, "personal_link.approved")
		require.Equal(t, "REQUESTED", answer{body: string(events[0].Data)}.object(t)["status"])
		require.Equal(t, "ACTIVE", answer{body: string(events[1].Data)}.object(t)["status"])
	})
	t.Run("personal_link.claimed holds the link with its order", func(t *testing.T) {
		require.NotNil(t, claimed["orderId"])
		s.shows(t, claimed, created, "personal_link.claimed")
	})
	t.Run("personal_link.cancelled holds the link", func(t *testing.T) {
		s.shows(t, s.cancel(t, "/personal-links/"+idOf(s.link(t))), created, "personal_link.cancelled")
	})
}
