package conformance_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

func testEvents(t *testing.T, p *platform) {
	f, waiting := newFixture(t, p), newFixture(t, p, approving)
	const created, updated, statusChanged = "order.created", "order.updated", "order.status_changed"
	order := f.place(t)
	placed := f.requireEvents(t, f.key, idOf(order), created)[0]
	requirement(t, "EVT-2", func(t *testing.T) {
		envelope := placed.Object(t)
		require.ElementsMatch(t, []string{"id", "type", "occurredAt", "environment", "data"}, namesOf(envelope))
		require.NoError(t, uuid.Validate(placed.ID))
		require.Regexp(t, instant, envelope["occurredAt"])
	})
	requirement(t, "EVT-5", func(t *testing.T) { require.Equal(t, order["updatedAt"], placed.Object(t)["occurredAt"]) })
	link := f.claimed(t)
	claimedOrder := f.orderOf(t, link)
	requirement(t, "EVT-6", func(t *testing.T) {
		require.JSONEq(t, f.Get(t, f.key, "/orders/"+idOf(order)).Body, string(placed.Data))
		ofClaim := f.requireEvents(t, f.key, idOf(claimedOrder), created)[0]
		require.JSONEq(t, f.Get(t, f.key, "/orders/"+idOf(claimedOrder)).Body, string(ofClaim.Data))
	})
	requirement(t, "EVT-9", func(t *testing.T) {
		now := order
		for _, change := range []string{`"recipient": {"name": "Zoe"}`, `"courierComment": "Ring."`, `"urgent": true`} {
			now = f.update(t, now, change)
		}
		events := f.requireEvents(t, f.key, idOf(order), created, updated, updated, updated)
		require.Equal(t, now, events[3].Record(t))
	})
	requirement(t, "EVT-7", func(t *testing.T) {
		f.dispatch(t, idOf(order))
		f.requireStatusChange(t, idOf(order), "PROCESSING", created, updated, updated, updated, statusChanged)
	})
	requirement(t, "EVT-8", func(t *testing.T) {
		requested := waiting.place(t)
		require.NoError(t, waiting.approve(t, waiting.coordinator, idOf(requested)))
		waiting.dispatch(t, idOf(requested))
		waiting.correctStatus(t, idOf(requested), ordersv1.OrderStatus_ORDER_STATUS_COMPLETED)
		waiting.correctStatus(t, idOf(requested), processing)
		waiting.cancel(t, "/orders/"+idOf(requested))
		var before []string
		types := []string{created, statusChanged, statusChanged, statusChanged, statusChanged, statusChanged}
		for _, e := range waiting.requireEvents(t, waiting.key, idOf(requested), types...)[1:] {
			before = append(before, e.Record(t)["previousStatus"].(string))
		}
		require.Equal(t, []string{"REQUESTED", "PROCESSING", "SENT", "COMPLETED", "PROCESSING"}, before)
	})
	requirement(t, "EVT-10", func(t *testing.T) {
		f.postMessageAs(t, idOf(order), operator, "On its way.")
		events := f.requireEvents(t, f.key, idOf(order), created, updated, updated, updated, statusChanged, "order.message_posted")
		require.Equal(t, record{
			"orderId": order["id"], "externalOrderId": order["externalOrderId"], "message": f.messages(t, f.key, idOf(order))[0],
		}, events[5].Record(t))
	})
	f.testLinkEvents(t, waiting, link)
	f.testRecords(t, claimedOrder)
	f.testAudience(t, link)
	waiting.testSnapshots(t)
}

// testRecords checks which changes make an event, and the contents of the events.
func (f *fixture) testRecords(t *testing.T, claimedOrder record) {
	const created, statusChanged = "order.created", "order.status_changed"
	requirement(t, "EVT-1", func(t *testing.T) {
		for _, byPeople := range []record{f.placeAs(t, f.member), f.placeAs(t, operator), f.place(t), claimedOrder} {
			f.requireEvents(t, f.key, idOf(byPeople), created)
		}
	})
	requirement(t, "EVT-16", func(t *testing.T) {
		quiet := f.place(t)
		cancelled := f.cancel(t, "/orders/"+idOf(quiet))
		require.Equal(t, cancelled, f.cancel(t, "/orders/"+idOf(quiet)))
		f.requireEvents(t, f.key, idOf(f.place(t)), created)
		f.requireEvents(t, f.key, idOf(quiet), created, statusChanged)
	})
	requirement(t, "EVT-18", func(t *testing.T) {
		for path, made := range map[string]record{"/orders/": f.place(t), "/personal-links/": f.link(t)} {
			found := f.Await(t, f.key, harness.Slow, `"id":"`+idOf(made)+`"`)
			require.JSONEq(t, f.Get(t, f.key, path+idOf(made)).Body, string(found.Data))
		}
	})
}

func (f *fixture) testLinkEvents(t *testing.T, waiting *fixture, claimed record) {
	const created = "personal_link.created"
	requirement(t, "EVT-11", func(t *testing.T) {
		made := results(t, f.Post(t, f.key, batches, f.batchOf(t, with("recipients", repeated(3, record{"label": "Ann"})))))
		for _, one := range made {
			f.requireLast(t, one.Link, created)
		}
	})
	requested := waiting.link(t)
	require.NoError(t, waiting.approveLink(t, waiting.coordinator, requested))
	approved := waiting.read(t, "/personal-links/"+idOf(requested))
	requirement(t, "EVT-12", func(t *testing.T) { waiting.requireLast(t, approved, created, "personal_link.approved") })
	requirement(t, "EVT-17", func(t *testing.T) {
		events := waiting.requireEvents(t, waiting.key, idOf(requested), created, "personal_link.approved")
		require.Equal(t, "REQUESTED", events[0].Record(t)["status"])
		require.Equal(t, "ACTIVE", events[1].Record(t)["status"])
	})
	requirement(t, "EVT-13", func(t *testing.T) {
		require.NotNil(t, claimed["orderId"])
		f.requireLast(t, claimed, created, "personal_link.claimed")
	})
	requirement(t, "EVT-14", func(t *testing.T) {
		f.requireLast(t, f.cancel(t, "/personal-links/"+idOf(f.link(t))), created, "personal_link.cancelled")
	})
}

// testSnapshots reads an order and a link after each of their changes, and the events only after the last one. The tenant
// requires approval.
func (f *fixture) testSnapshots(t *testing.T) {
	const created, updated, statusChanged = "order.created", "order.updated", "order.status_changed"
	requirement(t, "EVT-25", func(t *testing.T) {
		order := f.place(t)
		path := "/orders/" + idOf(order)
		now := func() record { return f.read(t, path) }
		then := []record{order}
		require.NoError(t, f.approve(t, f.coordinator, idOf(order)))
		then = append(then, now())
		then = append(then, f.update(t, now(), `"urgent": true`))
		then = append(then, f.update(t, now(), `"courierComment": "Ring."`))
		then = append(then, f.dispatch(t, idOf(order)))
		f.correctStatus(t, idOf(order), processing)
		then = append(then, now())
		then = append(then, f.cancel(t, path))
		events := f.requireEvents(t, f.key, idOf(order),
			created, statusChanged, updated, updated, statusChanged, statusChanged, statusChanged)
		for i, e := range events {
			data := e.Record(t)
			if e.Type == statusChanged {
				require.Equal(t, then[i-1]["status"], data["previousStatus"])
				data, _ = data["order"].(record)
			}
			require.Equal(t, then[i], data)
			require.InDelta(t, i, data["version"], 0)
			require.Equal(t, then[i]["updatedAt"], e.Object(t)["occurredAt"])
		}
	})
	requirement(t, "EVT-26", func(t *testing.T) {
		for last, change := range map[string]func(link record) record{
			"personal_link.cancelled": func(link record) record { return f.cancel(t, "/personal-links/"+idOf(link)) },
			"personal_link.claimed":   func(link record) record { return f.claim(t, link) },
		} {
			link := f.link(t)
			require.NoError(t, f.approveLink(t, f.coordinator, link))
			approved := f.read(t, "/personal-links/"+idOf(link))
			then := []record{link, approved, change(approved)}
			for i, e := range f.requireEvents(t, f.key, idOf(link), "personal_link.created", "personal_link.approved", last) {
				require.Equal(t, then[i], e.Record(t))
				require.Equal(t, then[i]["updatedAt"], e.Object(t)["occurredAt"])
			}
		}
	})
}

func testFeed(t *testing.T, p *platform) {
	f := newFixture(t, p)
	page := func(t *testing.T, query string) (items []any, next any) {
		t.Helper()
		body := f.read(t, "/events"+query)
		return body["items"].([]any), body["nextCursor"]
	}
	requirement(t, "FED-6", func(t *testing.T) {
		items, next := page(t, "")
		require.Empty(t, items)
		require.Nil(t, next)
	})
	var placed []string
	for range 5 {
		placed = append(placed, idOf(f.place(t)))
	}
	f.requireEvents(t, f.key, placed[4], "order.created")
	requirement(t, "FED-1", func(t *testing.T) {
		first, next := page(t, "?limit=2")
		require.Len(t, first, 2)
		others, _ := page(t, "?limit=100&after="+next.(string))
		require.Len(t, others, 3)
	})
	requirement(t, "FED-2", func(t *testing.T) {
		for i, e := range f.Feed(t, f.key) {
			require.True(t, e.About(placed[i]), "event %d", i)
		}
	})
	requirement(t, "FED-3", func(t *testing.T) {
		items, _ := page(t, "?limit=1")
		require.Equal(t, placed[0], at(items, "0.data.id"))
	})
	requirement(t, "FED-5", func(t *testing.T) {
		_, last := page(t, "")
		require.NotNil(t, last)
		items, again := page(t, "?after="+last.(string))
		require.Empty(t, items)
		require.Equal(t, last, again)
		for query, position := range map[string]string{"limit=1": "", "limit=100": "end", "after=" + last.(string): "end"} {
			answer := f.Send(t, call{Method: "GET", Path: "/events?" + query, Key: f.key})
			require.Equal(t, position, answer.Header.Get("Feed-Position"), query)
		}
	})
	requirement(t, "FED-7", func(t *testing.T) {
		_, next := page(t, "")
		later := idOf(f.place(t))
		f.requireEvents(t, f.key, later, "order.created")
		items, _ := page(t, "?after="+next.(string))
		require.Len(t, items, 1)
		require.Equal(t, later, at(items, "0.data.id"))
	})
	requirement(t, "FED-9", func(t *testing.T) { require.Equal(t, f.Feed(t, f.key), f.Feed(t, f.newKey(t))) })
	requirement(t, "CHO-49", func(t *testing.T) {
		before := len(f.Feed(t, f.key))
		var changed []string
		for range 5 {
			changed = append(changed, idOf(f.place(t)), idOf(f.link(t)))
		}
		f.requireEvents(t, f.key, changed[9], "personal_link.created")
		f.requireEvents(t, f.key, changed[8], "order.created")
		for i, e := range f.Feed(t, f.key)[before:] {
			require.True(t, e.About(changed[i]), "event %d", i)
		}
	})
	requirement(t, "CHO-50", func(t *testing.T) {
		f.claimed(t)
		f.update(t, f.read(t, "/orders/"+placed[0]), `"urgent": true`)
		f.dispatch(t, placed[0])
		f.cancel(t, "/orders/"+placed[1])
		f.correctStatus(t, placed[1], processing)
		marker := f.place(t)
		f.requireEvents(t, f.key, idOf(marker), "order.created")
		current := map[any]record{}
		for _, order := range f.All(t, f.key, "/orders?limit=3") {
			current[order["id"]] = order
		}
		require.Equal(t, current, f.RebuildOrders(t, f.key))
	})
}
