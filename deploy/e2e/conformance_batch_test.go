package e2e_test

import (
	"crypto/rand"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const batches = "/personal-links:create-batch"

// refuseBatch demands the problem.
func (s *shop) refuseBatch(t *testing.T, status int, code string, changes ...change) map[string]any {
	t.Helper()
	return requireProblem(t, s.post(t, s.key, batches, s.batchOf(t, changes...)), status, code)
}

// sendBatch posts one of which the document of the API calls something wrong, although it is answered 200.
func (s *shop) sendBatch(t *testing.T, body string) answer {
	t.Helper()
	return s.send(t, call{method: http.MethodPost, path: batches, key: s.key, body: body})
}

// reject demands that the one recipient is rejected for the fault.
func (s *shop) reject(t *testing.T, fault string, changes ...change) {
	t.Helper()
	made := results(t, s.sendBatch(t, s.batchOf(t, changes...)))
	require.Equal(t, "REJECTED", made[0].Outcome)
	require.Len(t, made[0].Errors, 1)
	require.Equal(t, fault, made[0].Errors[0].Field+" "+made[0].Errors[0].Code)
}

func recipient(member string, value any) change { return with("recipients.0."+member, value) }

func (p *platform) promisesOfBatches(t *testing.T) {
	s := p.newShop(t, false)
	s.promisesOfSelections(t)
	s.promisesOfWholeBatches(t)
	p.newShop(t, false).promisesOfResults(t)
	p.newShop(t, false).promisesOfLabels(t)
	p.newShop(t, false).promiseOfNullsInBatches(t)
}

// offered gives the gifts of the link's page.
func (s *shop) offered(t *testing.T, link map[string]any) (gifts []string) {
	t.Helper()
	page, err := s.giftSite(t).GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tokenOf(link)})
	require.NoError(t, err)
	for _, gift := range page.GetGifts() {
		gifts = append(gifts, gift.GetProductId())
	}
	return gifts
}

func (s *shop) promisesOfSelections(t *testing.T) {
	first, second := s.putGift(t, "S"), s.putGift(t, "S")
	campaign := s.campaign(t, -1, first, second)
	t.Run("Idempotency-Key is required for a batch", func(t *testing.T) {
		request := call{method: http.MethodPost, path: batches, key: s.key, body: s.batchOf(t), header: map[string]string{"Idempotency-Key": ""}}
		requireProblem(t, s.do(t, request), http.StatusBadRequest, "idempotency_key_required")
	})
	t.Run("a campaign's links offer the campaign's gifts", func(t *testing.T) {
		require.Equal(t, []string{first.GetId(), second.GetId()}, s.offered(t, s.link(t, fromCampaign(campaign.GetId()))))
	})
	t.Run("a brand comes with gifts instead of a campaign", func(t *testing.T) {
		link := s.link(t, with("brandId", s.other), with("productIds", []any{first.GetId()}))
		require.Equal(t, []any{s.other, nil, "CATALOG"}, []any{link["brandId"], link["campaignId"], link["selection"]})
	})
	t.Run("the gifts of a batch are offered to its recipients", func(t *testing.T) {
		link := s.link(t, with("productIds", []any{second.GetId(), first.GetId()}))
		require.Equal(t, []string{second.GetId(), first.GetId()}, s.offered(t, link))
	})
	invalid := func(t *testing.T, want string, changes ...change) {
		t.Helper()
		require.Equal(t, []string{want}, faults(t, s.refuseBatch(t, http.StatusBadRequest, "invalid_request", changes...)))
	}
	t.Run("neither selection is an invalid request", func(t *testing.T) {
		invalid(t, "campaignId required", without("brandId"), without("productIds"))
	})
	t.Run("both selections are an invalid request that says not_allowed_with_catalog_selection", func(t *testing.T) {
		invalid(t, "campaignId not_allowed_with_catalog_selection", with("campaignId", campaign.GetId()))
		invalid(t, "campaignId not_allowed_with_catalog_selection", with("campaignId", campaign.GetId()), without("productIds"))
	})
	t.Run("campaignId with productIds says not_allowed_with_catalog_selection", func(t *testing.T) {
		invalid(t, "campaignId not_allowed_with_catalog_selection", with("campaignId", campaign.GetId()), without("brandId"))
	})
	t.Run("a brand without gifts is an invalid request", func(t *testing.T) { invalid(t, "productIds required", without("productIds")) })
}

func (s *shop) promisesOfWholeBatches(t *testing.T) {
	const refused = http.StatusUnprocessableEntity
	gone, kept := s.putGift(t, "S"), s.putGift(t, "S")
	draft := s.campaign(t, -1, kept)
	draft.Status = 1
	s.putCampaign(t, draft)
	gone.State = archived
	s.putProduct(t, gone)
	before := len(s.all(t, s.key, "/personal-links?limit=100"))
	for _, c := range []struct {
		promise, code string
		change        change
	}{
		{"an unknown campaign is campaign_not_found", "campaign_not_found", fromCampaign(uuid.NewString())},
		{"a campaign that does not run is campaign_not_active", "campaign_not_active", fromCampaign(draft.GetId())},
		{"an unknown brand is brand_not_found", "brand_not_found", with("brandId", uuid.NewString())},
		{"no gift is no_products", "no_products", with("productIds", []any{})},
		{"an unknown gift is product_not_found", "product_not_found", with("productIds", []any{kept.GetId(), uuid.NewString()})},
		{"a gift that is not published is product_not_available", "product_not_available", with("productIds", []any{kept.GetId(), gone.GetId()})},
		{"no recipient is no_recipients", "no_recipients", with("recipients", []any{})},
		{"more than 1000 recipients are too_many_recipients", "too_many_recipients", with("recipients", repeated(1001, map[string]any{"label": "Ann"}))},
	} {
		t.Run(c.promise, func(t *testing.T) { s.refuseBatch(t, refused, c.code, c.change) })
	}
	t.Run("a problem of the whole batch makes no link", func(t *testing.T) {
		require.Len(t, s.all(t, s.key, "/personal-links?limit=100"), before)
	})
}

func (s *shop) promisesOfResults(t *testing.T) {
	mixed := s.batchOf(t, with("recipients", []any{
		map[string]any{"label": "Ann", "externalRecipientId": "player-1"},
		map[string]any{"externalRecipientId": "player-2"},
		map[string]any{"label": "Bo"},
	}))
	request := call{method: http.MethodPost, path: batches, key: s.key, idempotencyKey: rand.Text(), body: mixed}
	sent := s.send(t, request)
	require.Equal(t, http.StatusOK, sent.status, sent.body)
	var entries []map[string]any
	for _, entry := range sent.object(t)["results"].([]any) {
		entries = append(entries, entry.(map[string]any))
	}
	t.Run("every recipient has a result with its index and outcome", func(t *testing.T) {
		for i, outcome := range []string{"CREATED", "REJECTED", "CREATED"} {
			require.InDelta(t, i, entries[i]["index"], 0)
			require.Equal(t, outcome, entries[i]["outcome"])
		}
	})
	t.Run("a CREATED result has the link and no errors", func(t *testing.T) {
		require.NotContains(t, entries[0], "errors")
		link, _ := entries[0]["link"].(map[string]any)
		require.Equal(t, link, s.read(t, "/personal-links/"+idOf(link)))
	})
	t.Run("a REJECTED result has errors and no link", func(t *testing.T) {
		require.NotContains(t, entries[1], "link")
		fault, _ := entries[1]["errors"].([]any)[0].(map[string]any)
		require.ElementsMatch(t, []string{"field", "code", "message"}, namesOf(fault))
	})
	t.Run("a result carries the externalRecipientId", func(t *testing.T) {
		require.Equal(t, []any{"player-1", "player-2", nil},
			[]any{entries[0]["externalRecipientId"], entries[1]["externalRecipientId"], entries[2]["externalRecipientId"]})
	})
	t.Run("valid recipients are created beside rejected ones", func(t *testing.T) {
		require.Len(t, s.list(t, s.key, "/personal-links"), 2)
	})
	t.Run("each new link is recorded as personal_link.created", func(t *testing.T) {
		for _, i := range []int{0, 2} {
			s.shows(t, entries[i]["link"].(map[string]any), "personal_link.created")
		}
	})
	t.Run("a rejected recipient is sent again under a new Idempotency-Key", func(t *testing.T) {
		mended := request
		mended.body = s.batchOf(t, recipient("label", "Cy"))
		requireProblem(t, s.do(t, mended), http.StatusUnprocessableEntity, "idempotency_key_reused")
		mended.idempotencyKey = rand.Text()
		require.Equal(t, "CREATED", results(t, s.do(t, mended))[0].Outcome)
	})
	t.Run("every recipient of a new batch gets a new link", func(t *testing.T) {
		one, two := s.link(t, recipient("externalRecipientId", "player-1")), s.link(t, recipient("externalRecipientId", "player-1"))
		require.NotEqual(t, one["id"], two["id"])
		require.NotEqual(t, one["claimUrl"], two["claimUrl"])
	})
	t.Run("recipients are 1 to 1000", func(t *testing.T) {
		full := s.sendBatch(t, s.batchOf(t, with("recipients", repeated(1000, map[string]any{"label": "Ann"}))))
		require.Len(t, results(t, full), 1000)
		s.refuseBatch(t, http.StatusUnprocessableEntity, "no_recipients", without("recipients"))
	})
}
