package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const erasedPlayer = "player-to-be-erased"

var clerk = &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7"}

// dial connects to a service by its variable in demo.env.
func (s stack) dial(t *testing.T, variable string) *local.Conn {
	t.Helper()
	conn, err := local.Dial(s.Env, variable)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	return conn
}

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
			Name: harness.MarkedName, Phone: harness.MarkedPhone, Street: harness.MarkedStreet, City: "Visby", PostalCode: new("621 57"), Country: "SE",
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

// testErasure exports and erases a person through all services that store personal data. Another tenant has an equal person.
func (s stack) testErasure(t *testing.T) {
	key, otherKey := s.DemoKey(t), s.NewKey(t, seed.Approving).GetApiKey()
	link, order := s.claimedBy(t, key, s.Env["GIFTING_BRAND_ID"], erasedPlayer)
	brand := s.Array(t, otherKey, "/brands")[0]["id"]
	s.Post(t, otherKey, "/orders", s.Order(t, func(order map[string]any) {
		order["brandId"], order["externalRecipientId"] = brand, erasedPlayer
	})).OK(t)
	privacy := tenantsv1.NewPrivacyOperationsServiceClient(s.dial(t, "GIFTING_GRPC_TENANTS"))
	request := &tenantsv1.ErasePersonRequest{
		Actor: clerk, TenantId: seed.Direct, RequestId: uuid.NewString(),
		Subject: &tenantsv1.ErasePersonRequest_ExternalRecipientId{ExternalRecipientId: erasedPlayer},
	}
	_, err := privacy.ErasePerson(t.Context(), request)
	require.Equal(t, codes.FailedPrecondition, status.Code(err), "%v", err)
	require.ErrorContains(t, err, order, "the order in flight")
	s.deliver(t, seed.Direct, order)

	exported, err := privacy.ExportPerson(t.Context(), &tenantsv1.ExportPersonRequest{
		Actor: clerk, TenantId: seed.Direct, Subject: &tenantsv1.ExportPersonRequest_PersonalLinkId{PersonalLinkId: link},
	})
	require.NoError(t, err)
	require.True(t, json.Valid(exported.GetDocument()))
	for _, part := range []string{link, order, erasedPlayer, harness.MarkedName, harness.MarkedStreet, harness.MarkedPhone} {
		require.Contains(t, string(exported.GetDocument()), part)
	}

	erased, err := privacy.ErasePerson(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, tenantsv1.ErasureState_ERASURE_STATE_COMPLETED, erased.GetErasure().GetState())
	again, err := privacy.ErasePerson(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, erased.String(), again.String())
	for _, path := range []string{"/orders/" + order, "/personal-links/" + link} {
		require.NotContains(t, s.Get(t, key, path).Body, erasedPlayer)
	}
	require.Nil(t, s.Get(t, key, "/orders/"+order).OK(t)["externalRecipientId"])
	s.Await(t, key, harness.Slow, order, `"externalRecipientId":null`)
	require.Len(t, s.All(t, otherKey, "/orders?externalRecipientId="+erasedPlayer), 1, "that of the other tenant")
	s.requireOnlyTenantsErases(t, order)
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

// requireOnlyTenantsErases: no caller but the tenants service reaches the services behind it.
func (s stack) requireOnlyTenantsErases(t *testing.T, order string) {
	t.Helper()
	for _, variable := range []string{"GIFTING_GRPC_ORDERS", "GIFTING_GRPC_LINKS"} {
		_, err := privacyv1.NewPersonalDataServiceClient(s.dial(t, variable)).ErasePersonRecords(t.Context(),
			&privacyv1.ErasePersonRecordsRequest{TenantId: seed.Direct, RequestedBy: clerk, RecordIds: []string{order}})
		require.Equal(t, codes.PermissionDenied, status.Code(err), "%v", err)
	}
}
