package e2e_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

var clerk = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7"}

// linkFor makes a link for the person and returns it with the token in its claim URL.
func (s stack) linkFor(t *testing.T, key, brand, recipient string) (link, token string) {
	t.Helper()
	batch := s.Post(t, key, "/personal-links:create-batch", s.Batch(t, func(batch map[string]any) {
		batch["brandId"] = brand
		batch["recipients"] = []any{map[string]any{"label": harness.MarkedName, "externalRecipientId": recipient}}
	})).OK(t)
	made, _ := batch["results"].([]any)[0].(map[string]any)["link"].(map[string]any)
	link, _ = made["id"].(string)
	url, _ := made["claimUrl"].(string)
	return link, url[strings.LastIndex(url, "/")+1:]
}

func (s stack) claimOf(token string) *linksv1.ClaimLinkRequest {
	return &linksv1.ClaimLinkRequest{
		Token: token, ProductId: s.Env["GIFTING_PRODUCT_ID"],
		Recipient: &linksv1.ClaimRecipient{
			Name: harness.MarkedName, Phone: harness.MarkedPhone, Street: harness.MarkedStreet, City: "Visby", PostalCode: new("621 57"),
			Country: "SE",
		},
	}
}

// claimedBy makes a link for the person, claims it and returns it with its order.
func (s stack) claimedBy(t *testing.T, key, brand, recipient string) (link, order string) {
	t.Helper()
	link, token := s.linkFor(t, key, brand, recipient)
	_, err := s.GiftSite(t).ClaimLink(t.Context(), s.claimOf(token))
	require.NoError(t, err)
	order, _ = s.Get(t, key, "/personal-links/"+link).OK(t)["orderId"].(string)
	return link, order
}

// person is a recipient of a tenant with a claimed link, its order, an open link and an order without a link.
type person struct {
	recipient, link, claimed, open, placed string
	// request is the body of the order without a link. Its Idempotency-Key is the id of the open link.
	request string
}

func (s stack) newPerson(t *testing.T, key, brand string) person {
	t.Helper()
	p := person{recipient: "player-" + rand.Text()}
	p.link, p.claimed = s.claimedBy(t, key, brand, p.recipient)
	p.open, _ = s.linkFor(t, key, brand, p.recipient)
	p.request = s.orderFor(t, brand, p.recipient)
	p.placed, _ = s.repeat(t, key, p).OK(t)["id"].(string)
	s.Post(t, key, "/orders/"+p.placed+"/messages", harness.JSON(t, map[string]any{"body": "For " + p.recipient})).OK(t)
	return p
}

func (s stack) orderFor(t *testing.T, brand, recipient string) string {
	t.Helper()
	return s.Order(t, func(order map[string]any) {
		order["brandId"], order["externalRecipientId"], order["externalActionRef"] = brand, recipient, "bonus of "+recipient
	})
}

func (s stack) placedFor(t *testing.T, key, brand, recipient string) string {
	t.Helper()
	id, _ := s.Post(t, key, "/orders", s.orderFor(t, brand, recipient)).OK(t)["id"].(string)
	return id
}

// repeat places the person's order without a link, or repeats that.
func (s stack) repeat(t *testing.T, key string, p person) harness.Answer {
	t.Helper()
	return s.Do(t, harness.Call{
		Method: http.MethodPost, Path: "/orders", Key: key, Body: p.request, Header: map[string]string{"Idempotency-Key": p.open},
	})
}

// testErasure exports and erases a person through all services that store personal data. Another tenant has an equal one.
func (s stack) testErasure(t *testing.T) {
	key, otherKey := s.DemoKey(t), s.NewKey(t, seed.Approving).GetApiKey()
	brand := s.Env["GIFTING_BRAND_ID"]
	otherBrand, _ := s.Array(t, otherKey, "/brands")[0]["id"].(string)
	p := s.newPerson(t, key, brand)
	other := s.placedFor(t, otherKey, otherBrand, p.recipient)
	s.erase(t, p, &tenantsv1.ErasePersonRequest{
		Actor: clerk, TenantId: seed.Direct, RequestId: uuid.NewString(),
		Subject: &tenantsv1.ErasePersonRequest_ExternalRecipientId{ExternalRecipientId: p.recipient},
	})
	s.requireErased(t, key, p)
	require.Contains(t, s.Get(t, otherKey, "/orders/"+other).Body, p.recipient, "that of the other tenant")
	require.Contains(t, s.exported(t, seed.Approving, other), harness.MarkedStreet)
}

// exported returns what is stored about the person of an order.
func (s stack) exported(t *testing.T, tenant, order string) string {
	t.Helper()
	privacy := tenantsv1.NewPrivacyOperationsServiceClient(s.Conn(t, "GIFTING_GRPC_TENANTS"))
	exported, err := privacy.ExportPerson(t.Context(), &tenantsv1.ExportPersonRequest{
		Actor: clerk, TenantId: tenant, Subject: &tenantsv1.ExportPersonRequest_OrderId{OrderId: order},
	})
	require.NoError(t, err)
	require.True(t, json.Valid(exported.GetDocument()))
	return string(exported.GetDocument())
}

// erase exports and erases the person's orders and links, twice.
func (s stack) erase(t *testing.T, p person, request *tenantsv1.ErasePersonRequest) {
	t.Helper()
	links, orders := []string{p.link, p.open}, []string{p.claimed, p.placed}
	privacy := tenantsv1.NewPrivacyOperationsServiceClient(s.Conn(t, "GIFTING_GRPC_TENANTS"))
	_, err := privacy.ErasePerson(t.Context(), request)
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
	require.ErrorContains(t, err, p.claimed, "the order in flight")
	for _, order := range orders {
		s.deliver(t, seed.Direct, order)
	}
	personal := []string{p.recipient, harness.MarkedName, harness.MarkedStreet, harness.MarkedPhone}
	before := s.exported(t, seed.Direct, p.claimed)
	for _, part := range append(personal, p.link, p.claimed) {
		require.Contains(t, before, part)
	}

	erased, err := privacy.ErasePerson(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, tenantsv1.ErasureState_ERASURE_STATE_COMPLETED, erased.GetErasure().GetState())
	require.ElementsMatch(t, links, erased.GetErasure().GetParts()[0].GetRecordIds())
	require.ElementsMatch(t, orders, erased.GetErasure().GetParts()[1].GetRecordIds())
	again, err := privacy.ErasePerson(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, erased.String(), again.String())
	require.Len(t, erased.GetErasure().GetParts(), 4)
	places := []string{}
	for _, left := range erased.GetErasure().GetRemainders() {
		places = append(places, left.GetPlace())
		require.True(t, left.GetGoneAfter().AsTime().After(time.Now().AddDate(0, 0, 6)))
	}
	require.Equal(t, []string{"backups", "kafka"}, places)

	for _, order := range orders {
		after := s.exported(t, seed.Direct, order)
		for _, part := range personal {
			require.NotContains(t, after, part)
		}
	}
	s.requireAudited(t, request.GetRequestId(), links, orders)
}

// requireAudited: each service recorded who erased and exported what.
func (s stack) requireAudited(t *testing.T, request string, links, orders []string) {
	t.Helper()
	const byClerk = ` AND actor_kind = 'BACKOFFICE_ACCOUNT' AND actor_id = 'staff-7'`
	for _, in := range []struct {
		database, rows string
		ids            []string
		atLeast        int
	}{
		{"tenants", `SELECT count(*) FROM person_requests WHERE action = 'ERASE' AND id = ANY($1)` + byClerk, []string{request}, 1},
		{"orders", `SELECT count(DISTINCT (order_id, operation)) FROM order_audit
WHERE operation IN ('ERASE_PERSONAL_DATA', 'EXPORT_PERSONAL_DATA') AND order_id = ANY($1)` + byClerk, orders, 2 * len(orders)},
		{"links", `SELECT count(*) FROM link_audit WHERE action = 'ERASED' AND link_id = ANY($1)` + byClerk, links, len(links)},
	} {
		var n int
		require.NoError(t, s.connect(t, in.database).QueryRow(t.Context(), in.rows, in.ids).Scan(&n))
		require.Equal(t, in.atLeast, n, in.database)
	}
}

// requireErased: nothing but Kafka, outboxes and backups has a person of whom everything was erased.
func (s stack) requireErased(t *testing.T, key string, p person) {
	t.Helper()
	for _, path := range []string{
		"/orders/" + p.claimed, "/orders/" + p.placed, "/personal-links/" + p.link, "/personal-links/" + p.open,
	} {
		require.NotContains(t, s.Get(t, key, path).Body, p.recipient)
	}
	require.Equal(t, "CANCELLED", s.Get(t, key, "/personal-links/"+p.open).OK(t)["status"])
	require.Nil(t, s.Get(t, key, "/orders/"+p.placed).OK(t)["externalRecipientId"])
	for _, path := range []string{"/orders", "/personal-links"} {
		require.Empty(t, s.All(t, key, path+"?externalRecipientId="+p.recipient))
	}
	s.Await(t, key, harness.Slow, p.placed, `"externalRecipientId":null`)
	s.requireToldNoMore(t, key, p)
	// Rows of the other tenant are left out by its id. The events of the erasure itself are still on their way, without the person.
	// The stored response to the other tenant's order names its key only.
	require.Equal(t, map[string]int{"orders.idempotency_answers": 1}, s.rowsOf(t, p.recipient, seed.Approving))
	text, err := os.ReadFile(filepath.Join(s.Config.Dir, "stack.log"))
	require.NoError(t, err)
	require.NotContains(t, string(text), p.recipient)
}

// requireToldNoMore: the feed, webhooks that are sent again and stored answers read [erased].
func (s stack) requireToldNoMore(t *testing.T, key string, p person) {
	t.Helper()
	answer := s.repeat(t, key, p)
	require.Equal(t, "true", answer.Header.Get("Idempotent-Replayed"))
	require.Equal(t, "[erased]", answer.OK(t)["externalRecipientId"])
	require.NotContains(t, answer.Body, p.recipient)
	webhook := s.Env["GIFTING_KEY"] // The changes were made with another key, so they are sent to this one.
	events := map[string]harness.Event{}
	for _, e := range s.Feed(t, webhook) {
		require.NotContains(t, e.Raw, p.recipient)
		if e.About(p.placed) {
			events[e.Type] = e
		}
	}
	require.Contains(t, events["order.created"].Raw, `"externalRecipientId":"[erased]"`)
	require.Contains(t, events["order.message_posted"].Raw, `"body":"[erased]"`)
	listed := s.Get(t, webhook, "/webhooks/deliveries?eventId="+events["order.created"].ID)
	items, _ := listed.OK(t)["items"].([]any)
	require.Len(t, items, 1)
	delivery, _ := items[0].(map[string]any)["id"].(string)
	s.Post(t, webhook, "/webhooks/deliveries/"+delivery+":resend", "").OK(t)
	s.requireSent(t, events["order.created"])
	s.Post(t, webhook, "/webhooks:replay", harness.JSON(t, map[string]any{
		"from": time.Now().Add(-time.Hour), "to": time.Now(), "types": []string{"order.message_posted"},
	})).OK(t)
	s.requireSent(t, events["order.message_posted"])
}

// requireSent waits until the demo's receiver has the event as it is in the feed.
func (s stack) requireSent(t *testing.T, e harness.Event) {
	t.Helper()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(s.Deliveries(t, "/webhooks"), func(d inbox.Delivery) bool { return d.Raw == e.Raw && d.Verified })
	}, harness.Slow, 50*time.Millisecond, "the receiver does not have %s", e.Raw)
}

func (s stack) deliver(t *testing.T, tenant, order string) {
	t.Helper()
	_, err := s.Orders(t).DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: clerk, TenantId: tenant, OrderId: order,
		Shipment: &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://carrier.example/T-1"},
	})
	require.NoError(t, err)
	_, err = s.Orders(t).DeliverOrder(t.Context(), &ordersv1.DeliverOrderRequest{Actor: clerk, TenantId: tenant, OrderId: order})
	require.NoError(t, err)
}
