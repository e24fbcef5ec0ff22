package conformance_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local/inbox"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// testAudience is about who receives which events.
func (f *fixture) testAudience(t *testing.T, claimed record) {
	requirement(t, "EVT-19", func(t *testing.T) {
		for scope, prefix := range map[commonv1.Scope]string{
			commonv1.Scope_SCOPE_ORDERS: "order.", commonv1.Scope_SCOPE_PERSONAL_LINKS: "personal_link.",
		} {
			events := f.Feed(t, f.newKey(t, ofScope(scope)))
			require.NotEmpty(t, events)
			for _, e := range events {
				require.True(t, strings.HasPrefix(e.Type, prefix), e.Type)
			}
		}
	})
	requirement(t, "EVT-20", func(t *testing.T) {
		limited := f.newKey(t, ofBrand(f.other))
		elsewhere := f.place(t, with("brandId", f.other))
		f.requireEvents(t, limited, idOf(elsewhere), "order.created")
		require.Len(t, f.Feed(t, limited), 1)
	})
	requirement(t, "EVT-24", func(t *testing.T) {
		orderID, links := claimed["orderId"].(string), f.newKey(t, ofScope(commonv1.Scope_SCOPE_PERSONAL_LINKS))
		f.requireEvents(t, links, idOf(claimed), "personal_link.created", "personal_link.claimed")
		f.requireEvents(t, f.key, orderID, "order.created")
		for _, e := range f.Feed(t, links) {
			require.False(t, e.About(orderID))
		}
		var types []string
		for _, e := range f.Feed(t, f.key) {
			if strings.Contains(e.Raw, idOf(claimed)) {
				types = append(types, e.Type)
			}
		}
		require.Equal(t, []string{"personal_link.created", "order.created", "personal_link.claimed"}, types)
	})
	requirement(t, "EVT-22", func(t *testing.T) { f.requireEvents(t, f.key, idOf(f.place(t)), "order.created") })
	requirement(t, "EVT-23", func(t *testing.T) {
		order := idOf(f.place(t))
		require.Equal(t, http.StatusCreated, f.Post(t, f.key, "/orders/"+order+"/messages", `{"body": "Mine."}`).Status)
		f.postMessageAs(t, order, operator, "Theirs.")
		events := f.requireEvents(t, f.key, order, "order.created", "order.message_posted")
		require.Contains(t, events[1].Raw, "Theirs.")
		f.requireEvents(t, f.newKey(t), order, "order.created", "order.message_posted", "order.message_posted")
	})
	f.testPushing(t)
}

// testPushing is about who is sent which webhooks.
func (f *fixture) testPushing(t *testing.T) {
	one, two := f.newReceiver(t), f.newReceiver(t)
	requirement(t, "EVT-21", func(t *testing.T) {
		placed := f.Post(t, one.key, "/orders", f.body(t)).OK(t)
		sent := f.requireEvents(t, f.key, idOf(placed), "order.created")[0]
		two.await(t, sent.ID)
		later := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
		one.await(t, later.ID)
		path := "/orders/" + idOf(placed)
		require.Equal(t, http.StatusCreated, f.Post(t, one.key, path+"/messages", `{"body": "When?"}`).Status)
		message := f.requireEvents(t, two.key, idOf(placed), "order.created", "order.message_posted")[1]
		two.await(t, message.ID)
		one.await(t, f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0].ID)
		require.False(t, slices.ContainsFunc(one.all(t), func(d inbox.Delivery) bool { return eventOf(d) == sent.ID || eventOf(d) == message.ID }))
	})
	requirement(t, "EVT-15", func(t *testing.T) {
		before := len(two.all(t))
		require.Equal(t, http.StatusOK, f.Post(t, one.key, "/webhooks:test", "").Status)
		arrived := one.all(t)
		ping := harness.Object(t, []byte(arrived[len(arrived)-1].Raw))
		require.Equal(t, "ping", ping["type"])
		require.Equal(t, record{}, ping["data"])
		require.Len(t, two.all(t), before)
	})
	requirement(t, "EVT-3", func(t *testing.T) {
		sent := f.requireEvents(t, f.key, idOf(f.place(t)), "order.created")[0]
		occurred, err := time.Parse(time.RFC3339, sent.Object(t)["occurredAt"].(string))
		require.NoError(t, err)
		require.Less(t, one.await(t, sent.ID).ReceivedAt.Sub(occurred), 10*time.Second)
	})
	requirement(t, "EVT-4", func(t *testing.T) {
		sent := f.requireEvents(t, f.key, idOf(f.link(t)), "personal_link.created")[0]
		require.Equal(t, sent.Raw, one.await(t, sent.ID).Raw)
	})
}
