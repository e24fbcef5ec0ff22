package rules_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/restjson"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

func TestAValueOfAnotherTypeCountsAsSent(t *testing.T) {
	t.Parallel()
	const id = `"0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f"`
	const both = "campaignId not_allowed_with_catalog_selection"
	for body, want := range map[string][]string{
		`{"brandId": ` + id + `, "productIds": [5, "x", null]}`: {
			"productIds[0] invalid", "productIds[1] invalid", "productIds[2] invalid",
		},
		`{"brandId": ` + id + `, "productIds": 5}`:                             {"productIds invalid"},
		`{"campaignId": ` + id + `, "productIds": [5]}`:                        {both, "productIds[0] invalid"},
		`{"campaignId": ` + id + `, "brandId": 5}`:                             {both, "brandId invalid"},
		`{"campaignId": 5, "brandId": ` + id + `, "productIds": [` + id + `]}`: {"campaignId invalid"},
		`{"campaignId": 5}`:                {"campaignId invalid"},
		`{"brandId": 5}`:                   {"brandId invalid", "productIds required"},
		`{"productIds": [5]}`:              {"brandId required", "productIds[0] invalid"},
		`{"brandId": 5, "productIds": []}`: {"brandId invalid"},
	} {
		req, errs := &linksv1.CreatePersonalLinksRequest{}, &fields.Errors{}
		errs.AddAll(restjson.Unmarshal([]byte(body), req))
		rules.CheckSelection(req, errs)
		require.ElementsMatch(t, want, found(errs), body)
	}
	req, errs := &linksv1.ClaimSandboxPersonalLinkRequest{}, &fields.Errors{}
	errs.AddAll(restjson.Unmarshal([]byte(`{"variations": {"Size": 5}}`), req))
	rules.SandboxClaim(req, errs)
	require.Equal(t, []string{"variations.Size invalid", "productId required"}, found(errs))
}

func TestASelectionHasEachGiftOnceAndAtMost1000(t *testing.T) {
	t.Parallel()
	const mug, jersey = "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f", "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0a"
	errs := &fields.Errors{}
	check := func(brandID string, gifts ...string) rules.Selection {
		return rules.CheckSelection(
			&linksv1.CreatePersonalLinksRequest{BrandId: &brandID, ProductIds: &linksv1.ProductIds{Ids: gifts}}, errs)
	}
	require.Equal(t, []string{mug, jersey}, check(mug, strings.ToUpper(mug), mug, jersey).ProductIDs)
	require.Empty(t, errs.List())
	check("1", make([]string, 1001)...)
	require.Equal(t, []string{"brandId invalid", "productIds invalid"}, found(errs))
}

func found(errs *fields.Errors) (out []string) {
	for _, v := range errs.List() {
		out = append(out, v.Field+" "+v.Code)
	}
	return out
}
