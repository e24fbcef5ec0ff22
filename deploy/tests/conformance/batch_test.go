package conformance_test

import (
	"crypto/rand"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const batches = "/personal-links:create-batch"

// refuseBatch checks that a batch with the changes is refused with the code.
func (f *fixture) refuseBatch(t *testing.T, code problem.Code, changes ...change) {
	t.Helper()
	f.Post(t, f.key, batches, f.batchOf(t, changes...)).Problem(t, code)
}

// reject checks that the batch's only recipient is rejected for exactly this violation.
func (f *fixture) reject(t *testing.T, violation string, changes ...change) {
	t.Helper()
	// The call is not validated: the OpenAPI document does not allow such a recipient, but the response is 200.
	made := results(t, f.Send(t, f.postCall(batches, f.batchOf(t, changes...))))
	require.Equal(t, "REJECTED", made[0].Outcome)
	require.Equal(t, []string{violation}, made[0].violations())
}

func testBatches(t *testing.T, p *platform) {
	f := newFixture(t, p)
	f.testSelections(t)
	f.testWholeBatches(t)
	newFixture(t, p).testResults(t)
	newFixture(t, p).testLabels(t)
	newFixture(t, p).testNullsInBatches(t)
}

// offered are the gifts on the link's page.
func (f *fixture) offered(t *testing.T, link record) (gifts []string) {
	t.Helper()
	for _, gift := range f.page(t, link).GetGifts() {
		gifts = append(gifts, gift.GetProductId())
	}
	return gifts
}

func (f *fixture) testSelections(t *testing.T) {
	first, second := f.putGift(t, "S"), f.putGift(t, "S")
	campaign := f.campaign(t, -1, first, second)
	requirement(t, "BAT-2", func(t *testing.T) {
		request := f.postCall(batches, f.batchOf(t))
		request.Header = map[string]string{"Idempotency-Key": ""}
		f.Do(t, request).Problem(t, "idempotency_key_required")
	})
	requirement(t, "BAT-3", func(t *testing.T) {
		require.Equal(t, []string{first.GetId(), second.GetId()}, f.offered(t, f.link(t, fromCampaign(campaign.GetId()))))
	})
	requirement(t, "BAT-4", func(t *testing.T) {
		link := f.link(t, with("brandId", f.other), with("productIds", []any{first.GetId()}))
		require.Equal(t, []any{f.other, nil, "CATALOG"}, []any{link["brandId"], link["campaignId"], link["selection"]})
	})
	requirement(t, "BAT-5", func(t *testing.T) {
		link := f.link(t, with("productIds", []any{second.GetId(), first.GetId()}))
		require.Equal(t, []string{second.GetId(), first.GetId()}, f.offered(t, link))
	})
	const both = "campaignId not_allowed_with_catalog_selection"
	invalid := func(t *testing.T, want string, changes ...change) {
		t.Helper()
		f.Post(t, f.key, batches, f.batchOf(t, changes...)).Invalid(t, want)
	}
	requirement(t, "BAT-7", func(t *testing.T) { invalid(t, "campaignId required", without("brandId", "productIds")) })
	requirement(t, "BAT-8", func(t *testing.T) {
		invalid(t, both, with("campaignId", campaign.GetId()))
		invalid(t, both, with("campaignId", campaign.GetId()), without("productIds"))
	})
	requirement(t, "BAT-10", func(t *testing.T) { invalid(t, both, with("campaignId", campaign.GetId()), without("brandId")) })
	requirement(t, "BAT-9", func(t *testing.T) { invalid(t, "productIds required", without("productIds")) })
	requirement(t, "BAT-48", func(t *testing.T) {
		for body, want := range map[string][]string{
			f.batchOf(t, with("productIds", []any{5, nil})):                            {"productIds[0] invalid", "productIds[1] invalid"},
			f.batchOf(t, fromCampaign(campaign.GetId()), with("productIds", []any{5})): {both, "productIds[0] invalid"},
			f.batchOf(t, with("brandId", 5), without("productIds")):                    {"brandId invalid", "productIds required"},
		} {
			f.Post(t, f.key, batches, body).Invalid(t, want...)
		}
	})
}

func (f *fixture) testWholeBatches(t *testing.T) {
	gone, kept := f.putGift(t, "S"), f.putGift(t, "S")
	draft := f.campaign(t, -1, kept)
	draft.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
	f.putCampaign(t, draft)
	f.putInState(t, gone, archived)
	before := len(f.All(t, f.key, "/personal-links?limit=100"))
	for _, c := range []struct {
		id     string
		code   problem.Code
		change change
	}{
		{"BAT-37", "campaign_not_found", fromCampaign(uuid.NewString())},
		{"BAT-38", "campaign_not_active", fromCampaign(draft.GetId())},
		{"BAT-39", "brand_not_found", with("brandId", uuid.NewString())},
		{"BAT-40", "no_products", with("productIds", []any{})},
		{"BAT-41", "product_not_found", with("productIds", []any{kept.GetId(), uuid.NewString()})},
		{"BAT-42", "product_not_available", with("productIds", []any{kept.GetId(), gone.GetId()})},
		{"BAT-43", "no_recipients", with("recipients", []any{})},
		{"BAT-44", "too_many_recipients", with("recipients", repeated(1001, record{"label": "Ann"}))},
	} {
		requirement(t, c.id, func(t *testing.T) { f.refuseBatch(t, c.code, c.change) })
	}
	requirement(t, "BAT-36", func(t *testing.T) { require.Len(t, f.All(t, f.key, "/personal-links?limit=100"), before) })
}

func (f *fixture) testResults(t *testing.T) {
	mixed := f.batchOf(t, with("recipients", []any{
		record{"label": "Ann", "externalRecipientId": "player-1"},
		record{"externalRecipientId": "player-2"},
		record{"label": "Bo"},
	}))
	request := f.postCall(batches, mixed)
	request.IdempotencyKey = rand.Text()
	sent := f.Send(t, request)
	require.Equal(t, http.StatusOK, sent.Status, sent.Body)
	var entries []record
	for _, entry := range sent.Object(t)["results"].([]any) {
		entries = append(entries, entry.(record))
	}
	requirement(t, "BAT-1", func(t *testing.T) {
		for i, outcome := range []string{"CREATED", "REJECTED", "CREATED"} {
			require.InDelta(t, i, entries[i]["index"], 0)
			require.Equal(t, outcome, entries[i]["outcome"])
		}
	})
	requirement(t, "BAT-23", func(t *testing.T) {
		require.NotContains(t, entries[0], "errors")
		link, _ := entries[0]["link"].(record)
		require.Equal(t, link, f.read(t, "/personal-links/"+idOf(link)))
	})
	requirement(t, "BAT-24", func(t *testing.T) {
		require.NotContains(t, entries[1], "link")
		require.ElementsMatch(t, []string{"field", "code", "message"}, namesOf(at(entries[1], "errors.0").(record)))
	})
	requirement(t, "BAT-25", func(t *testing.T) {
		require.Equal(t, []any{"player-1", "player-2", nil}, column(entries, "externalRecipientId"))
	})
	requirement(t, "BAT-26", func(t *testing.T) { require.Len(t, f.list(t, f.key, "/personal-links"), 2) })
	requirement(t, "BAT-45", func(t *testing.T) {
		for _, i := range []int{0, 2} {
			f.requireLast(t, entries[i]["link"].(record), "personal_link.created")
		}
	})
	requirement(t, "BAT-34", func(t *testing.T) {
		corrected := request
		corrected.Body = f.batchOf(t, recipient("label", "Cy"))
		f.Do(t, corrected).Problem(t, "idempotency_key_reused")
		corrected.IdempotencyKey = rand.Text()
		require.Equal(t, "CREATED", results(t, f.Do(t, corrected))[0].Outcome)
	})
	requirement(t, "BAT-35", func(t *testing.T) {
		one, two := f.link(t, recipient("externalRecipientId", "player-1")), f.link(t, recipient("externalRecipientId", "player-1"))
		require.NotEqual(t, one["id"], two["id"])
		require.NotEqual(t, one["claimUrl"], two["claimUrl"])
	})
	requirement(t, "BAT-6", func(t *testing.T) {
		full := f.postCall(batches, f.batchOf(t, with("recipients", repeated(1000, record{"label": "Ann"}))))
		full.IdempotencyKey = rand.Text()
		made := f.Do(t, full)
		require.Len(t, results(t, made), 1000)
		require.Equal(t, made.Body, f.Do(t, full).Body, "byte for byte")
		f.Await(t, f.key, harness.Slow, idOf(results(t, made)[999].Link))
		events := 0
		for _, e := range f.Feed(t, f.key) {
			if strings.Contains(made.Body, string(e.Data)) {
				events++
			}
		}
		require.Equal(t, 1000, events, "an event for each link, as it was answered")
		f.refuseBatch(t, "too_many_recipients", with("recipients", repeated(1001, record{"label": "Ann"})))
	})
}

// linkTexts are the texts of a recipient, with the requirements of the limit and, unless empty, of the link: as it was sent, or
// null.
var linkTexts = []struct {
	name           string
	limit          int
	atMost, inLink string
}{
	{"label", 255, "BAT-11", ""},
	{"externalRecipientId", 128, "BAT-13", "LIN-2"},
	{"message", 255, "BAT-17", ""},
	{"email", 255, "BAT-15", ""},
}

// testLabels checks the fields of a recipient in a batch.
func (f *fixture) testLabels(t *testing.T) {
	for _, field := range linkTexts {
		requirement(t, field.atMost, func(t *testing.T) {
			text := freshText
			if field.name == "email" {
				text = address
			}
			f.link(t, recipient(field.name, text(field.limit)))
			f.reject(t, field.name+" too_long", recipient(field.name, text(field.limit+1)))
		})
	}
	noted := f.link(t, recipient("message", "Well done!"), recipient("locale", "sv-SE"), recipient("externalRecipientId", "player-7"))
	requirement(t, "BAT-12", func(t *testing.T) { require.Equal(t, harness.MarkedName, f.page(t, noted).GetLabel()) })
	requirement(t, "BAT-18", func(t *testing.T) { require.Equal(t, "Well done!", f.page(t, noted).GetMessage()) })
	requirement(t, "BAT-19", func(t *testing.T) {
		for _, locale := range []string{"en-US", "sv-SE", "de-DE"} {
			require.Equal(t, locale, f.page(t, f.link(t, recipient("locale", locale))).GetLocale())
		}
	})
	requirement(t, "BAT-20", func(t *testing.T) { require.Equal(t, "en-US", f.page(t, f.link(t)).GetLocale()) })
	requirement(t, "BAT-14", func(t *testing.T) {
		require.Equal(t, "player-7", f.orderOf(t, f.claim(t, noted))["externalRecipientId"])
	})
	twice := []any{record{"label": "Ann", "email": "ann@example.org"}, record{"label": "Bo", "email": "ANN@example.org"}}
	requirement(t, "BAT-16", func(t *testing.T) {
		made := results(t, f.Post(t, f.key, batches, f.batchOf(t, with("recipients", twice))))
		require.Equal(t, []string{"CREATED", "REJECTED"}, []string{made[0].Outcome, made[1].Outcome})
		f.link(t, recipient("email", "ann@example.org"))
	})
	requirement(t, "BAT-22", func(t *testing.T) {
		require.Equal(t, f.coordinator.GetId(), f.readLinkAsTeam(t, f.link(t, recipient("managerEmail", managerEmail))).GetManagerId())
	})
	requirement(t, "CHO-47", func(t *testing.T) {
		first := record{"label": " ", "email": "eve@example.org"}
		made := results(t, f.Send(t,
			f.postCall(batches, f.batchOf(t, with("recipients", []any{first, record{"label": "Eve", "email": "Eve@example.org"}})))))
		require.Equal(t, [][]string{{"label required"}, {"email duplicate"}}, [][]string{made[0].violations(), made[1].violations()})
	})
	f.testRejections(t, twice)
}

func (f *fixture) testRejections(t *testing.T, twice []any) {
	answers := func(fieldID string, value any) change {
		return recipient("customFields", []any{record{"fieldId": fieldID, "textValue": value}})
	}
	requirement(t, "BAT-27", func(t *testing.T) {
		f.reject(t, "label required", with("recipients", []any{record{}}))
		f.reject(t, "label required", recipient("label", " "))
		f.reject(t, "label too_long", recipient("label", freshText(256)))
	})
	requirement(t, "BAT-28", func(t *testing.T) {
		f.reject(t, "email invalid", recipient("email", "ann@"))
		f.reject(t, "email too_long", recipient("email", address(256)))
		made := results(t, f.Post(t, f.key, batches, f.batchOf(t, with("recipients", twice))))
		require.Equal(t, []string{"email duplicate"}, made[1].violations())
	})
	requirement(t, "BAT-30", func(t *testing.T) { f.reject(t, "locale not_enabled", recipient("locale", "fr-FR")) })
	requirement(t, "BAT-31", func(t *testing.T) { f.reject(t, "customFields[0].fieldId invalid", answers("x", "x")) })
	requirement(t, "BAT-33", func(t *testing.T) {
		for _, email := range []string{formerMember, "nobody@conformance.example"} {
			f.reject(t, "managerEmail manager_not_found", recipient("managerEmail", email))
		}
	})
	requirement(t, "BAT-21", func(t *testing.T) { f.link(t, answers(uuid.NewString(), "x")) })
	requirement(t, "BAT-47", func(t *testing.T) {
		f.link(t, answers(uuid.NewString(), freshText(2001)))
		many := repeated(2001, record{"fieldId": uuid.NewString(), "checked": true})
		f.link(t, recipient("customFields", append(many, record{"fieldId": f.text, "textValue": "x"})))
		twice := repeated(2, record{"fieldId": f.text, "textValue": "x"})
		f.reject(t, "customFields[2002].fieldId invalid", recipient("customFields", append(many, twice...)))
	})
	requirement(t, "BAT-32", func(t *testing.T) {
		f.reject(t, "customFields invalid", answers(f.choice, "Funeral"))
		f.requireField(t)
		f.reject(t, "customFields invalid")
	})
}
