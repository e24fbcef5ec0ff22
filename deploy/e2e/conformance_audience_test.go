package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// promisesOfAudience is of who is told what.
func (s *shop) promisesOfAudience(t *testing.T, claimed map[string]any) {
	scoped := func(scope commonv1.Scope) string {
		return s.makeKey(t, func(key *tenantsv1.CreateKeyRequest) { key.Scopes = []commonv1.Scope{scope} }).GetApiKey()
	}
	t.Run("order events need ORDERS and link events PERSONAL_LINKS", func(t *testing.T) {
		for scope, prefix := range map[commonv1.Scope]string{commonv1.Scope_SCOPE_ORDERS: "order.", commonv1.Scope_SCOPE_PERSONAL_LINKS: "personal_link."} {
			events := s.feed(t, scoped(scope))
			require.NotEmpty(t, events)
			for _, e := range events {
				require.True(t, strings.HasPrefix(e.Type, prefix), e.Type)
			}
		}
	})
	t.Run("a key limited to brands receives their events only", func(t *testing.T) {
		limited := s.keyOf(t, s.other)
		elsewhere := s.place(t, with("brandId", s.other))
		s.recorded(t, limited, idOf(elsewhere), "order.created")
		require.Len(t, s.feed(t, limited), 1)
	})
	t.Run("a claim gives personal_link.claimed and, with ORDERS, order.created", func(t *testing.T) {
		orderID, _ := claimed["orderId"].(string)
		s.recorded(t, scoped(commonv1.Scope_SCOPE_PERSONAL_LINKS), idOf(claimed), "personal_link.created", "personal_link.claimed")
		s.recorded(t, s.key, orderID, "order.created")
		for _, e := range s.feed(t, scoped(commonv1.Scope_SCOPE_PERSONAL_LINKS)) {
			require.False(t, e.about(orderID))
		}
	})
	t.Run("the feed has the key's own changes", func(t *testing.T) { s.recorded(t, s.key, idOf(s.place(t)), "order.created") })
	t.Run("the feed has no message that the key posted", func(t *testing.T) {
		order := idOf(s.place(t))
		require.Equal(t, http.StatusCreated, s.post(t, s.key, "/orders/"+order+"/messages", `{"body": "Mine."}`).status)
		s.write(t, order, clerk, "Theirs.")
		events := s.recorded(t, s.key, order, "order.created", "order.message_posted")
		require.Contains(t, events[1].raw, "Theirs.")
		s.recorded(t, s.makeKey(t, nil).GetApiKey(), order, "order.created", "order.message_posted", "order.message_posted")
	})
	s.promisesOfPushing(t)
}

// promisesOfPushing is of what is sent to whom.
func (s *shop) promisesOfPushing(t *testing.T) {
	one, two := s.hook(t), s.hook(t)
	t.Run("a key is not sent its own change, other keys are", func(t *testing.T) {
		body := s.body(t)
		placed := s.post(t, one.key, "/orders", body)
		require.Equal(t, http.StatusCreated, placed.status, placed.body)
		sent := s.recorded(t, s.key, idOf(placed.object(t)), "order.created")[0]
		two.of(t, sent.ID)
		later := s.recorded(t, s.key, idOf(s.place(t)), "order.created")[0]
		one.of(t, later.ID)
		require.False(t, slices.ContainsFunc(one.all(t), func(d inbox.Delivery) bool { return d.Headers["Service-Event-Id"] == sent.ID }))
	})
	t.Run("ping holds an empty object and is sent to that key alone", func(t *testing.T) {
		before := len(two.all(t))
		require.Equal(t, http.StatusOK, s.post(t, one.key, "/webhooks:test", "").status)
		arrived := one.all(t)
		ping := answer{body: arrived[len(arrived)-1].Raw}.object(t)
		require.Equal(t, "ping", ping["type"])
		require.Equal(t, map[string]any{}, ping["data"])
		require.Len(t, two.all(t), before)
	})
	t.Run("a webhook arrives within seconds", func(t *testing.T) {
		sent := s.recorded(t, s.key, idOf(s.place(t)), "order.created")[0]
		occurred, err := time.Parse(time.RFC3339, answer{body: sent.raw}.object(t)["occurredAt"].(string))
		require.NoError(t, err)
		require.Less(t, one.of(t, sent.ID).ReceivedAt.Sub(occurred), 10*time.Second)
	})
	t.Run("a webhook's body and the item of the feed are the same bytes", func(t *testing.T) {
		sent := s.recorded(t, s.key, idOf(s.link(t)), "personal_link.created")[0]
		require.Equal(t, sent.raw, one.of(t, sent.ID).Raw)
	})
}
