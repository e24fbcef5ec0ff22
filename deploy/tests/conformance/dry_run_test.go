package conformance_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const dryRun = "/orders:validate"

// validation is the answer to a dry run.
type validation struct {
	record
	problems []record
}

// validate makes a dry run. It is not validated against the document, because the body may be invalid.
func (f *fixture) validate(t *testing.T, key, body string) validation {
	t.Helper()
	a := f.Send(t, call{Method: http.MethodPost, Path: dryRun, Key: key, Body: body, Header: map[string]string{"Idempotency-Key": ""}})
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	v := validation{record: a.Object(t)}
	require.ElementsMatch(t, []string{
		"valid", "status", "estimate", "estimateEur", "receivedOutsideActiveHours", "problems", "ignored",
	}, namesOf(v.record))
	for _, p := range v.record["problems"].([]any) {
		require.ElementsMatch(t, []string{"code", "detail", "errors", "orderId"}, namesOf(p.(record)))
		v.problems = append(v.problems, p.(record))
	}
	require.Equal(t, len(v.problems) == 0, v.record["valid"], a.Body)
	return v
}

// codes are those of the problems.
func (v validation) codes() (out []string) {
	for _, p := range v.problems {
		out = append(out, p["code"].(string))
	}
	return out
}

func testDryRun(t *testing.T, p *platform) {
	f := newFixture(t, p)
	gift := f.putGift(t, "S")
	campaign := f.campaign(t, 1, gift)
	from := []change{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())}
	requirement(t, "DRY-1", func(t *testing.T) {
		for _, body := range []string{
			f.body(t), f.body(t, custom("1.00", "SEK")), f.body(t, ofCampaign(f.campaign(t, -1, gift).GetId()), from[1]),
		} {
			a := f.Post(t, f.key, dryRun, body)
			require.Equal(t, http.StatusOK, a.Status, a.Body)
			require.Equal(t, []any{true, "PROCESSING", []any{}}, []any{a.Object(t)["valid"], a.Object(t)["status"], a.Object(t)["problems"]})
			require.Equal(t, "PROCESSING", f.Post(t, f.key, "/orders", body).OK(t)["status"])
		}
	})
	requirement(t, "DRY-2", func(t *testing.T) {
		waiting := newFixture(t, p, approving)
		require.Equal(t, "REQUESTED", waiting.validate(t, waiting.key, waiting.body(t)).record["status"])
	})
	requirement(t, "DRY-3", func(t *testing.T) {
		body := f.body(t, without("client"), with("recipient.phone", "0701112233"), with("urgent", "yes"), ofGift(f.product),
			with("customization", record{"details": "x"}))
		want := harness.Violations(t, f.Post(t, f.key, "/orders", body).Problem(t, "invalid_request"))
		got := f.validate(t, f.key, body)
		require.Equal(t, []string{"invalid_request"}, got.codes())
		require.Equal(t, want, harness.Violations(t, got.problems[0]))
		require.Len(t, want, 4)
	})
	requirement(t, "DRY-15", func(t *testing.T) {
		require.Equal(t, []any{}, f.validate(t, f.key, f.body(t)).record["ignored"])
		body := f.body(t, with("urgnt", true), with("recipient.adress", record{}), with("urgent", "yes"))
		require.ElementsMatch(t, []any{"urgnt", "recipient.adress"}, f.validate(t, f.key, body).record["ignored"])
	})
	requirement(t, "DRY-4", func(t *testing.T) {
		body := f.body(t, ofGift(gift.GetId()), with("brandId", uuid.NewString()), with("recipient.address.country",
			"NO"), with("recipient.name", ""),
			with("customFields", []any{record{"fieldId": f.choice, "textValue": "Funeral"}}), with("managerEmail", formerMember))
		require.Equal(t, []string{
			"invalid_request", "brand_not_found", "not_deliverable_to_country", "invalid_variations", "invalid_custom_fields",
			"manager_not_found",
		}, f.validate(t, f.key, body).codes())
		f.Post(t, f.key, "/orders", body).Problem(t, "invalid_request")
	})
	requirement(t, "DRY-5", func(t *testing.T) {
		require.Empty(t, f.validate(t, f.key, f.body(t, from...)).codes())
		f.place(t, from...)
		require.Equal(t, []string{"out_of_stock"}, f.validate(t, f.key, f.body(t, from...)).codes())
	})
	requirement(t, "DRY-6", func(t *testing.T) {
		order := f.place(t)
		taken := f.body(t, with("externalOrderId", order["externalOrderId"]))
		require.Equal(t, order["id"], f.validate(t, f.key, taken).problems[0]["orderId"])
		taken = f.body(t, with("externalOrderId", order["externalOrderId"]), with("brandId", f.other))
		hidden := f.validate(t, f.newKey(t, ofBrand(f.other)), taken)
		require.Equal(t, []string{"external_order_id_conflict"}, hidden.codes())
		require.Nil(t, hidden.problems[0]["orderId"])
	})
	requirement(t, "DRY-7", func(t *testing.T) {
		rich := f.richGift(t)
		shown := f.gift(t, rich.GetId(), "country=SE")
		got := f.validate(t, f.key, f.body(t, ofGift(rich.GetId(), record{"Size": "S", "Colour": "Red"}))).record
		require.NotNil(t, shown["estimate"])
		require.Equal(t, []any{shown["estimate"], shown["estimateEur"]}, []any{got["estimate"], got["estimateEur"]})
		for _, body := range []string{f.body(t), f.body(t, custom("1.00", "SEK")), "{}"} {
			requireNull(t, f.validate(t, f.key, body).record, "estimate", "estimateEur")
		}
	})
	f.testDryRunCalls(t)
	requirement(t, "DRY-11", func(t *testing.T) { f.testDryRunWrites(t) })
	requirement(t, "DRY-12", func(t *testing.T) { testDryRunAgrees(t, p) })
}

// testDryRunCalls checks what is not of the order but of the call.
func (f *fixture) testDryRunCalls(t *testing.T) {
	requirement(t, "DRY-8", func(t *testing.T) {
		for _, body := range []string{"{", "[]", `"x"`, "null", `{"urgent": true, "urgent": false}`} {
			got := f.validate(t, f.key, body)
			require.Equal(t, []string{"invalid_request"}, got.codes(), body)
			require.Equal(t, []string{" invalid"}, harness.Violations(t, got.problems[0]))
		}
	})
	requirement(t, "DRY-9", func(t *testing.T) {
		f.Post(t, "", dryRun, "{}").Problem(t, "invalid_api_key")
		f.Post(t, f.newKey(t, ofScope(commonv1.Scope_SCOPE_CATALOG)), dryRun, "{}").Problem(t, "insufficient_scope")
		request := f.postCall(dryRun, f.body(t))
		request.Header = map[string]string{"Content-Type": "text/plain"}
		f.Do(t, request).Problem(t, "unsupported_media_type")
		f.Send(t, f.postCall(dryRun, strings.Repeat(" ", 10<<20+1))).Problem(t, "payload_too_large")
		f.Get(t, f.key, dryRun).Problem(t, "method_not_allowed")
	})
	requirement(t, "DRY-10", func(t *testing.T) {
		first, body := f.body(t, with("urgent", true)), f.body(t)
		for _, key := range []string{" ", "k", strings.Repeat("k", 300)} {
			for _, sent := range []string{first, body} {
				request := f.postCall(dryRun, sent)
				request.Header = map[string]string{"Idempotency-Key": key}
				a := f.Do(t, request)
				require.Equal(t, http.StatusOK, a.Status, a.Body)
				require.Empty(t, a.Header.Get("Idempotent-Replayed"))
			}
		}
		request := f.postCall("/orders", body)
		request.IdempotencyKey = "k"
		require.Equal(t, http.StatusCreated, f.Do(t, request).Status, "the dry runs have not used the key")
	})
}

// testDryRunWrites makes dry runs, valid and not, and looks for what they could have left.
func (f *fixture) testDryRunWrites(t *testing.T) {
	gift := f.putGift(t, "S")
	campaign := f.campaign(t, 3, gift)
	order := f.place(t)
	for _, changes := range [][]change{
		{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())},
		{},
		{custom("1.00", "SEK")},
		{without("client"), with("managerEmail", formerMember)},
		{with("externalOrderId", order["externalOrderId"])},
	} {
		f.validate(t, f.key, f.body(t, append(changes, with("externalRecipientId", "dry"))...))
	}
	require.Equal(t, []any{float64(3)}, f.stockOf(t, campaign))
	require.Empty(t, f.list(t, f.key, "/orders?externalRecipientId=dry"))
	f.requireEvents(t, f.key, idOf(order), "order.created")
}
