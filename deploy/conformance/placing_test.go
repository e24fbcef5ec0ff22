package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

func testPlacing(t *testing.T, p *platform) {
	f := newFixture(t, p)
	requirement(t, "PLA-1", func(t *testing.T) {
		for length, code := range map[int]problem.Code{0: "idempotency_key_required", 256: "idempotency_key_invalid"} {
			request := f.postCall("/orders", f.body(t))
			request.Header = map[string]string{"Idempotency-Key": strings.Repeat("k", length)}
			f.Do(t, request).Problem(t, code)
		}
		blank := f.postCall("/orders", f.body(t))
		blank.Header = map[string]string{"Idempotency-Key": " "}
		f.Do(t, blank).Problem(t, "idempotency_key_required")
		longest := f.postCall("/orders", f.body(t))
		longest.IdempotencyKey = strings.Repeat("k", 255)
		require.Equal(t, http.StatusCreated, f.Do(t, longest).Status)
	})
	requirement(t, "PLA-2", func(t *testing.T) {
		request := f.postCall("/orders", f.body(t))
		request.Header = map[string]string{"Content-Type": "text/plain"}
		f.Do(t, request).Problem(t, "unsupported_media_type")
	})
	requirement(t, "PLA-3", func(t *testing.T) { require.InDelta(t, 0, f.place(t)["version"], 0) })
	requirement(t, "PLA-4", func(t *testing.T) {
		require.Equal(t, "PROCESSING", f.place(t)["status"])
		require.Equal(t, "REQUESTED", newFixture(t, p, approving).place(t)["status"])
	})
	requirement(t, "PLA-8", func(t *testing.T) {
		for kind, order := range map[string]record{"CATALOG": f.place(t), "CUSTOM": f.place(t, custom("10.00", "SEK"))} {
			require.Equal(t, kind, at(order, "items.0.kind"))
		}
	})
	requirement(t, "PLA-58", func(t *testing.T) {
		for path, value := range map[string]any{
			"urgent": "yes", "externalOrderId": 7, "items": record{}, "client": "Ann", "recipient.address": []any{}, "customFields": true,
			"recipient.phone": 46701112233, "items.0.variations": []any{}, "brandId": 1,
		} {
			f.invalid(t, strings.ReplaceAll(path, ".0", "[0]")+" invalid", with(path, value))
		}
	})
	f = newFixture(t, p)
	f.testIDs(t)
	f.testSelection(t)
	f.testAnswers(t)
	newFixture(t, p).testItems(t)
	newFixture(t, p).testLengths(t)
	newFixture(t, p).testRecipients(t)
	newFixture(t, p).testDefaults(t)
	newFixture(t, p).testNullsInOrders(t)
}

// testIDs is about the caller's own ids.
func (f *fixture) testIDs(t *testing.T) {
	requirement(t, "PLA-5", func(t *testing.T) {
		f.invalid(t, "externalOrderId required", without("externalOrderId"))
		f.invalid(t, "externalOrderId required", with("externalOrderId", " \t"))
	})
	order := f.place(t, with("externalOrderId", "taken"), with("externalRecipientId", "player-1"))
	requirement(t, "PLA-7", func(t *testing.T) {
		f.refuse(t, "external_order_id_conflict", with("externalOrderId", "taken"), with("brandId", f.other))
		require.Equal(t, "taken", newFixture(t, f.platform).place(t, with("externalOrderId", "taken"))["externalOrderId"], "another tenant has its own")
	})
	requirement(t, "PLA-54", func(t *testing.T) {
		require.Equal(t, order["id"], f.refuse(t, "external_order_id_conflict", with("externalOrderId", "taken"))["orderId"])
	})
	requirement(t, "PLA-55", func(t *testing.T) {
		body := f.body(t, with("externalOrderId", "taken"), with("brandId", f.other))
		refused := f.Post(t, f.newKey(t, ofBrand(f.other)), "/orders", body).Problem(t, "external_order_id_conflict")
		require.NotContains(t, refused, "orderId")
	})
	requirement(t, "PLA-56", func(t *testing.T) {
		refused := f.Post(t, f.newKey(t), "/orders", f.body(t, with("externalOrderId", "taken"))).Problem(t, "external_order_id_conflict")
		require.Equal(t, order["id"], refused["orderId"])
	})
	requirement(t, "PLA-9", func(t *testing.T) { require.Nil(t, f.place(t)["externalRecipientId"]) })
	requirement(t, "PLA-11", func(t *testing.T) {
		require.Equal(t, []any{order["id"]}, ids(f.list(t, f.key, "/orders?externalRecipientId=player-1")...))
	})
	requirement(t, "PLA-53", func(t *testing.T) {
		require.Equal(t, "Conformance key", f.readAsOperator(t, order).GetFulfilment().GetPlacedByKey())
	})
}

// testSelection is about brand, campaign and manager.
func (f *fixture) testSelection(t *testing.T) {
	gift := f.putGift(t, "S", "M")
	campaign := f.campaign(t, 1, gift)
	from := []change{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())}
	requirement(t, "PLA-17", func(t *testing.T) {
		order := f.place(t, append(from, with("brandId", f.brand))...)
		f.cancel(t, "/orders/"+idOf(order))
		refused := f.refuse(t, "brand_campaign_mismatch", append(from, with("brandId", f.other))...)
		require.Equal(t, []string{"brandId invalid"}, harness.Violations(t, refused))
	})
	requirement(t, "PLA-14", func(t *testing.T) { require.Equal(t, f.brand, f.place(t, from...)["brandId"]) })
	requirement(t, "PLA-60", func(t *testing.T) {
		f.refuse(t, "out_of_stock", from...)
		f.place(t, ofCampaign(campaign.GetId()), ofGift(gift.GetId(), record{"Size": "M"}))
	})
	requirement(t, "PLA-15", func(t *testing.T) {
		f.invalid(t, "campaignId invalid", ofCampaign(campaign.GetId()), custom("1.00", "SEK"))
	})
	requirement(t, "PLA-16", func(t *testing.T) { f.refuse(t, "brand_required", without("brandId")) })
	requirement(t, "PLA-22", func(t *testing.T) {
		order := f.place(t, with("managerEmail", managerEmail))
		require.Equal(t, f.coordinator.GetId(), f.readAsOperator(t, order).GetFulfilment().GetManagerId())
		const elsewhere = "eve@elsewhere.example"
		newFixture(t, f.platform).addMember(t, "Eve", elsewhere, tenantsv1.TeamRole_TEAM_ROLE_COORDINATOR, true)
		for _, email := range []string{formerMember, elsewhere, "nobody@conformance.example"} {
			f.refuse(t, "manager_not_found", with("managerEmail", email))
		}
	})
}

// testAnswers is about the answers to the tenant's order fields.
func (f *fixture) testAnswers(t *testing.T) {
	const code = "invalid_custom_fields"
	answers := func(list ...any) change { return with("customFields", list) }
	answer := func(id string, member string, value any) any { return record{"fieldId": id, member: value} }
	requirement(t, "PLA-30", func(t *testing.T) {
		f.invalid(t, "customFields[0].fieldId required", answers(record{"textValue": "x"}))
		f.invalid(t, "customFields[0].fieldId invalid", answers(answer("x", "textValue", "x")))
	})
	requirement(t, "PLA-31", func(t *testing.T) {
		order := f.place(t, answers(answer(f.text, "textValue", "Hi"), answer(f.choice, "textValue", "Jackpot"), answer(f.box, "checked", true)))
		require.Len(t, f.readAsOperator(t, order).GetDetails().GetCustomFields(), 3)
		for _, wrong := range []any{answer(f.text, "checked", true), answer(f.choice, "textValue", "Funeral"), answer(f.box, "textValue", "yes")} {
			f.refuse(t, code, answers(wrong))
		}
	})
	requirement(t, "PLA-32", func(t *testing.T) {
		order := f.place(t, answers(answer(uuid.NewString(), "textValue", "x")))
		require.Empty(t, f.readAsOperator(t, order).GetDetails().GetCustomFields())
	})
	requirement(t, "PLA-64", func(t *testing.T) {
		required := f.requireField(t)
		f.refuse(t, code)
		f.refuse(t, code, answers(answer(required, "textValue", " ")))
		f.place(t, answers(answer(required, "textValue", "4711")))
	})
}
