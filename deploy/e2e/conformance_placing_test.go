package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func (p *platform) promisesOfPlacing(t *testing.T) {
	s := p.newShop(t, false)
	t.Run("Idempotency-Key is required and at most 255 characters", func(t *testing.T) {
		for length, code := range map[int]string{0: "idempotency_key_required", 256: "idempotency_key_invalid"} {
			request := call{method: http.MethodPost, path: "/orders", key: s.key, body: s.body(t)}
			request.header = map[string]string{"Idempotency-Key": strings.Repeat("k", length)}
			requireProblem(t, s.do(t, request), http.StatusBadRequest, code)
		}
		longest := call{method: http.MethodPost, path: "/orders", key: s.key, body: s.body(t), idempotencyKey: strings.Repeat("k", 255)}
		require.Equal(t, http.StatusCreated, s.do(t, longest).status)
	})
	t.Run("another Content-Type than JSON is refused", func(t *testing.T) {
		request := call{method: http.MethodPost, path: "/orders", key: s.key, body: s.body(t)}
		request.header = map[string]string{"Content-Type": "text/plain"}
		requireProblem(t, s.do(t, request), http.StatusUnsupportedMediaType, "unsupported_media_type")
	})
	t.Run("a placed order answers 201 with version 0", func(t *testing.T) { require.InDelta(t, 0, s.place(t)["version"], 0) })
	t.Run("it is REQUESTED where the tenant approves and PROCESSING elsewhere", func(t *testing.T) {
		require.Equal(t, "PROCESSING", s.place(t)["status"])
		require.Equal(t, "REQUESTED", p.newShop(t, true).place(t)["status"])
	})
	t.Run("an order is of a gift or of a custom request", func(t *testing.T) {
		for kind, order := range map[string]map[string]any{"CATALOG": s.place(t), "CUSTOM": s.place(t, custom("10.00", "SEK"))} {
			require.Equal(t, kind, order["items"].([]any)[0].(map[string]any)["kind"])
		}
	})
	t.Run("no validation error places an order, and none is a 5xx", func(t *testing.T) {
		id := fresh(30)
		for name, spoil := range badOrders() {
			refused := s.post(t, s.key, "/orders", s.body(t, with("externalOrderId", id), spoil))
			require.GreaterOrEqual(t, refused.status, http.StatusBadRequest, name)
			require.Less(t, refused.status, http.StatusInternalServerError, name)
		}
		require.Empty(t, s.list(t, s.key, "/orders?externalOrderId="+id))
	})
	t.Run("a wrong JSON type is an invalid field", func(t *testing.T) {
		for path, value := range map[string]any{
			"urgent": "yes", "externalOrderId": 7, "items": map[string]any{}, "client": "Ann", "recipient.address": []any{}, "customFields": true,
			"recipient.phone": 46701112233, "items.0.variations": []any{}, "brandId": 1,
		} {
			s.refuse(t, s.body(t, with(path, value)), strings.ReplaceAll(path, ".0", "[0]")+" invalid")
		}
	})
	s = p.newShop(t, false)
	s.promisesOfIDs(t)
	s.promisesOfSelection(t)
	s.promisesOfAnswers(t)
	p.newShop(t, false).promisesOfItems(t)
	p.newShop(t, false).promisesOfLengths(t)
	p.newShop(t, false).promisesOfRecipients(t)
	p.newShop(t, false).promisesOfDefaults(t)
	p.newShop(t, false).promiseOfNullsInOrders(t)
}

// promisesOfIDs is of the caller's own names.
func (s *shop) promisesOfIDs(t *testing.T) {
	t.Run("externalOrderId is required", func(t *testing.T) {
		s.refuse(t, s.body(t, without("externalOrderId")), "externalOrderId required")
		s.refuse(t, s.body(t, with("externalOrderId", " \t")), "externalOrderId required")
	})
	order := s.place(t, with("externalOrderId", "taken"), with("externalRecipientId", "player-1"))
	t.Run("externalOrderId is unique within the tenant across all brands", func(t *testing.T) {
		s.refuseAs(t, http.StatusConflict, "external_order_id_conflict", with("externalOrderId", "taken"), with("brandId", s.other))
		require.Equal(t, "taken", s.newShop(t, false).place(t, with("externalOrderId", "taken"))["externalOrderId"], "another tenant has its own")
	})
	t.Run("a taken externalOrderId is a conflict that names the order", func(t *testing.T) {
		problem := s.refuseAs(t, http.StatusConflict, "external_order_id_conflict", with("externalOrderId", "taken"))
		require.Equal(t, order["id"], problem["orderId"])
	})
	t.Run("a key that does not see the order is not told its id", func(t *testing.T) {
		body := s.body(t, with("externalOrderId", "taken"), with("brandId", s.other))
		problem := requireProblem(t, s.post(t, s.keyOf(t, s.other), "/orders", body), http.StatusConflict, "external_order_id_conflict")
		require.NotContains(t, problem, "orderId")
	})
	t.Run("the keys of a tenant share the space of externalOrderIds", func(t *testing.T) {
		second := s.makeKey(t, nil).GetApiKey()
		problem := requireProblem(t, s.post(t, second, "/orders", s.body(t, with("externalOrderId", "taken"))),
			http.StatusConflict, "external_order_id_conflict")
		require.Equal(t, order["id"], problem["orderId"])
	})
	t.Run("externalRecipientId is optional", func(t *testing.T) { require.Nil(t, s.place(t)["externalRecipientId"]) })
	t.Run("externalRecipientId filters lists", func(t *testing.T) {
		require.Equal(t, []any{order["id"]}, ids(s.list(t, s.key, "/orders?externalRecipientId=player-1")))
	})
	t.Run("the workspace sees that the order came by which key", func(t *testing.T) {
		require.Equal(t, "Conformance key", s.file(t, order).GetFulfilment().GetPlacedByKey())
	})
}

// file is an order as the operator reads it.
func (s *shop) file(t *testing.T, order map[string]any) *ordersv1.ReadOrderResponse {
	t.Helper()
	read, err := s.orderOperations(t).ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{Actor: clerk, TenantId: s.tenant, OrderId: idOf(order)})
	require.NoError(t, err)
	return read
}

// promisesOfSelection is of brand, campaign and manager.
func (s *shop) promisesOfSelection(t *testing.T) {
	const refused = http.StatusUnprocessableEntity
	gift := s.putGift(t, "S", "M")
	campaign := s.campaign(t, 1, gift)
	from := []change{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())}
	t.Run("with a campaign the brand is omitted or the campaign's", func(t *testing.T) {
		order := s.place(t, append(from, with("brandId", s.brand))...)
		s.cancel(t, "/orders/"+idOf(order))
		problem := s.refuseAs(t, refused, "brand_campaign_mismatch", append(from, with("brandId", s.other))...)
		require.Equal(t, []string{"brandId invalid"}, faults(t, problem))
	})
	t.Run("an order from a campaign takes the campaign's brand", func(t *testing.T) { require.Equal(t, s.brand, s.place(t, from...)["brandId"]) })
	t.Run("a campaign without a unit of the variations is out_of_stock", func(t *testing.T) {
		s.refuseAs(t, http.StatusConflict, "out_of_stock", from...)
		s.place(t, ofCampaign(campaign.GetId()), ofGift(gift.GetId(), map[string]any{"Size": "M"}))
	})
	t.Run("a campaign is not combined with a custom request", func(t *testing.T) {
		s.refuse(t, s.body(t, ofCampaign(campaign.GetId()), custom("1.00", "SEK")), "campaignId invalid")
	})
	t.Run("a brand is required without a campaign", func(t *testing.T) { s.refuseAs(t, refused, "brand_required", without("brandId")) })
	t.Run("the manager is an active member of the team, who then owns the order", func(t *testing.T) {
		order := s.place(t, with("managerEmail", shopManager))
		require.Equal(t, s.coordinator.GetId(), s.file(t, order).GetFulfilment().GetManagerId())
		const elsewhere = "eve@elsewhere.example"
		s.newShop(t, false).hire(t, "Eve", elsewhere, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, true)
		for _, email := range []string{shopLeaver, elsewhere, "nobody@conformance.example"} {
			s.refuseAs(t, refused, "manager_not_found", with("managerEmail", email))
		}
	})
}

// promisesOfAnswers is of the tenant's order fields.
func (s *shop) promisesOfAnswers(t *testing.T) {
	const refused, code = http.StatusUnprocessableEntity, "invalid_custom_fields"
	answers := func(list ...any) change { return with("customFields", list) }
	answer := func(id string, member string, value any) any { return map[string]any{"fieldId": id, member: value} }
	t.Run("the fieldId of an answer is required and a UUID", func(t *testing.T) {
		s.refuse(t, s.body(t, answers(map[string]any{"textValue": "x"})), "customFields[0].fieldId required")
		s.refuse(t, s.body(t, answers(answer("x", "textValue", "x"))), "customFields[0].fieldId invalid")
	})
	t.Run("answers are text, a chosen option or a tick, as the field is", func(t *testing.T) {
		order := s.place(t, answers(answer(s.text, "textValue", "Hi"), answer(s.choice, "textValue", "Jackpot"), answer(s.box, "checked", true)))
		require.Len(t, s.file(t, order).GetDetails().GetCustomFields(), 3)
		for _, wrong := range []any{answer(s.text, "checked", true), answer(s.choice, "textValue", "Funeral"), answer(s.box, "textValue", "yes")} {
			s.refuseAs(t, refused, code, answers(wrong))
		}
	})
	t.Run("an answer to a field the tenant does not have is ignored", func(t *testing.T) {
		order := s.place(t, answers(answer(uuid.NewString(), "textValue", "x")))
		require.Empty(t, s.file(t, order).GetDetails().GetCustomFields())
	})
	t.Run("a required field without answer, or an answer that does not fit, is invalid_custom_fields", func(t *testing.T) {
		required := &tenantsv1.CustomField{
			Id: uuid.NewString(), Label: "Cost centre", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT, Required: true,
		}
		s.putField(t, 3, required)
		s.refuseAs(t, refused, code)
		s.refuseAs(t, refused, code, answers(answer(required.GetId(), "textValue", " ")))
		s.place(t, answers(answer(required.GetId(), "textValue", "4711")))
	})
}
