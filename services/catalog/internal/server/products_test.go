package server_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestAListedGiftInFull(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE", "FI")
	f.putRate("SEK", "11.3333")
	f.putCategory("HOME", "TEXTILES", "KITCHEN")
	fileID := f.upload(png)
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt"}}
		p.Categories = []string{"HOME__TEXTILES", "HOME__KITCHEN"}
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "12.5"}}
		p.ImageFileIds = []string{fileID}
		p.CustomizationAvailable, p.GiftSet, p.ReadyToSend = true, true, true
	})
	updatedAt := f.put(p)
	require.Equal(t, updatedAt, updatedAt.Truncate(time.Microsecond))

	page := call(f, f.catalog.ListProducts, &catalogv1.ListProductsRequest{Country: "SE", Locale: text("sv-SE")})
	require.Nil(t, page.NextCursor)
	require.Len(t, page.GetItems(), 1)
	got := page.GetItems()[0].GetProduct()
	require.Equal(t, p.GetId(), got.GetId())
	require.Equal(t, "Ullfilt", got.GetName())
	require.Equal(t, "Warm.", got.GetDescription(), "falls back to en-US if the translation has none")
	require.True(t, got.GetListed() && got.GetAvailable() && got.GetPriced())
	require.True(t, got.GetCustomizationAvailable() && got.GetGiftSet() && got.GetReadyToSend())
	require.Equal(t, "12.50", got.GetEstimateEur().GetAmount())
	require.Equal(t, "EUR", got.GetEstimateEur().GetCurrency())
	require.Equal(t, "141.67", got.GetEstimate().GetAmount(), "141.66625 rounds half-up")
	require.Equal(t, "SEK", got.GetEstimate().GetCurrency())
	require.Equal(t, []string{"HOME__TEXTILES", "HOME__KITCHEN"}, got.GetCategories())
	require.Equal(t, publicURL+"/catalog/images/"+fileID, got.GetImages()[0].GetUrl())
	require.Nil(t, got.GetImages()[0].Width)
	require.Equal(t, []string{"S", "M"}, got.GetVariations()[0].GetValues())
	require.Equal(t, updatedAt, got.GetUpdatedAt().AsTime())

	single := call(f, f.catalog.GetProduct, &catalogv1.GetProductRequest{ProductId: p.GetId(), Country: "SE", Locale: text("sv-SE")})
	require.Equal(t, got.String(), single.GetProduct().String())
}

func TestEstimatesDependOnCountryAndCurrency(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE", "FI")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "10"}}
	})
	before := f.put(p)
	get := func(country string, version int64) *catalogv1.Product {
		t.Helper()
		r, err := f.catalog.GetProduct(f.as(version), &catalogv1.GetProductRequest{ProductId: p.GetId(), Country: country})
		require.NoError(t, err)
		return r.GetProduct()
	}
	t.Run("no gift is priced in a currency without rate", func(t *testing.T) {
		got := get("SE", 1)
		require.False(t, got.GetPriced())
		require.Nil(t, got.GetEstimateEur())
		require.Nil(t, got.GetEstimate())
	})
	t.Run("a new rate counts immediately and does not change updatedAt", func(t *testing.T) {
		f.putRate("SEK", "11")
		f.putRate("SEK", "11.5")
		got := get("SE", 1)
		require.Equal(t, "115.00", got.GetEstimate().GetAmount())
		require.Equal(t, before, got.GetUpdatedAt().AsTime())
	})
	t.Run("a country without availability still shows the price of its region", func(t *testing.T) {
		got := get("FI", 1)
		require.False(t, got.GetAvailable())
		require.True(t, got.GetPriced())
	})
	t.Run("a country without region has no price", func(t *testing.T) {
		got := get("DE", 1)
		require.False(t, got.GetPriced())
		require.Nil(t, got.GetEstimate())
		require.Nil(t, got.GetEstimateEur())
	})
	t.Run("a changed currency of the tenant counts from the version the edge saw", func(t *testing.T) {
		calls := func() int { return f.directory.Calls("GetTenantSettings") }
		before := calls()
		f.directory.ChangeTenant(tenantID, func(s *tenantstest.Settings) { s.Tenant.Currency = "EUR" })
		require.Equal(t, "SEK", get("SE", 1).GetEstimate().GetCurrency())
		require.Equal(t, before, calls(), "the cache is used while nothing has changed")
		require.Equal(t, "EUR", get("SE", 2).GetEstimate().GetCurrency())
		require.Equal(t, "10.00", get("SE", 2).GetEstimate().GetAmount())
		require.Equal(t, before+1, calls())
	})
}

func TestPagesOfALoad(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var want []string
	for i := range 23 {
		p := gift(func(p *catalogv1.PutProductRequest) { p.Name = fmt.Sprintf("Gift %d", i) })
		if i%5 == 0 {
			p.State = draft
		} else {
			want = append(want, p.GetId())
		}
		f.put(p)
	}
	slices.Sort(want)
	for _, n := range []int32{1, 6, 18, 100} {
		require.Equal(t, want, ids(f.list(&catalogv1.ListProductsRequest{Country: "SE", Limit: limit(n)})), "limit %d", n)
	}
}

func TestACursorBelongsToItsQuery(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.put(gift())
	f.put(gift())
	since := timestamppb.New(time.Unix(0, 0))
	first := func(req *catalogv1.ListProductsRequest) *string {
		req.Limit = limit(1)
		page := call(f, f.catalog.ListProducts, req)
		require.NotNil(t, page.NextCursor)
		return page.NextCursor
	}
	after := first(&catalogv1.ListProductsRequest{Country: "SE"})
	changed := first(&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: since})
	forged, err := base64.RawURLEncoding.DecodeString(*changed)
	require.NoError(t, err)
	forged[9] = 0x7f // The first byte of the time, which is then far beyond the database's range.
	refuses := func(req *catalogv1.ListProductsRequest, want codes) {
		t.Helper()
		require.Equal(t, want, violations(f, f.catalog.ListProducts, req))
	}
	for name, req := range map[string]*catalogv1.ListProductsRequest{
		"without updatedSince":  {Country: "SE", After: changed},
		"another updatedSince":  {Country: "SE", UpdatedSince: timestamppb.New(time.Unix(1, 0)), After: changed},
		"nonsense":              {Country: "SE", After: text("nonsense")},
		"a time out of reach":   {Country: "SE", UpdatedSince: since, After: text(base64.RawURLEncoding.EncodeToString(forged))},
		"a cursor that was cut": {Country: "SE", After: text((*after)[:8])},
		"an empty cursor":       {Country: "SE", After: text("")},
		"a blank cursor":        {Country: "SE", After: text(" ")},
	} {
		t.Run(name, func(*testing.T) { refuses(req, codes{"after": "invalid"}) })
	}
	pagetest.RequireBound(t, &catalogv1.ListProductsRequest{Country: "SE", Limit: limit(1)}, func(req *catalogv1.ListProductsRequest) (string, error) {
		resp, err := f.catalog.ListProducts(f.as(1), req)
		return resp.GetNextCursor(), err
	}, map[protoreflect.Name]any{"country": "FI", "locale": "sv-SE"})
	for _, locale := range []string{"en-US", " "} { // Both mean the same as no locale.
		call(f, f.catalog.ListProducts, &catalogv1.ListProductsRequest{Country: "SE", Locale: &locale, After: after})
	}
	t.Run("with an invalid filter the cursor is not checked", func(*testing.T) {
		refuses(&catalogv1.ListProductsRequest{After: after}, codes{"country": "required"})
	})
	t.Run("the page size is not a filter", func(*testing.T) {
		refuses(&catalogv1.ListProductsRequest{Country: "FI", After: after, Limit: limit(0)}, codes{"after": "invalid", "limit": "invalid"})
	})
}

func TestInvalidQueries(t *testing.T) {
	t.Parallel()
	f := setup(t)
	t.Run("all violations are reported together with the edge's", func(t *testing.T) {
		ctx := f.as(1, problem.Violation{Field: "updatedSince", Code: problem.FieldInvalid, Message: "must be an instant"})
		_, err := f.catalog.ListProducts(ctx, &catalogv1.ListProductsRequest{Locale: text("xx"), Limit: limit(0), After: text("?")})
		require.Equal(t, codes{
			"updatedSince": "invalid", "country": "required", "locale": "not_enabled", "limit": "invalid", "after": "invalid",
		}, violationsOf(t, err))
	})
	t.Run("an unsupported locale names the supported ones", func(t *testing.T) {
		_, products := f.catalog.ListProducts(f.as(1), &catalogv1.ListProductsRequest{Country: "SE", Locale: text("de-DE")})
		_, categories := f.catalog.ListCategories(f.as(1), &catalogv1.ListCategoriesRequest{Locale: text("de-DE")})
		_, campaign := f.catalog.GetCampaign(f.as(1), &catalogv1.GetCampaignRequest{CampaignId: "x", Locale: text("de-DE")})
		for _, err := range []error{products, categories, campaign} {
			require.Equal(t, codes{"locale": "not_enabled"}, violationsOf(t, err))
			p, _ := problem.As(err)
			require.Contains(t, p.Violations[0].Message, "en-US, sv-SE")
		}
	})
	t.Run("a country is an assigned code in upper case", func(t *testing.T) {
		for _, country := range []string{"se", "XX", "SWE", "EU", "S\x00"} {
			want := codes{"country": "invalid"}
			require.Equal(t, want, violations(f, f.catalog.ListProducts, &catalogv1.ListProductsRequest{Country: country}), country)
			require.Equal(t, want, violations(f, f.catalog.GetProduct, &catalogv1.GetProductRequest{Country: country}), country)
		}
	})
	t.Run("a limit is 1 to 100", func(t *testing.T) {
		for _, n := range []int32{-1, 0, 101} {
			req := &catalogv1.ListProductsRequest{Country: "SE", Limit: limit(n)}
			require.Equal(t, codes{"limit": "invalid"}, violations(f, f.catalog.ListProducts, req))
		}
	})
	t.Run("an instant beyond the calendar", func(t *testing.T) {
		req := &catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: &timestamppb.Timestamp{Seconds: 1 << 60}}
		require.Equal(t, codes{"updatedSince": "invalid"}, violations(f, f.catalog.ListProducts, req))
	})
	t.Run("no key", func(t *testing.T) {
		_, err := f.catalog.ListProducts(t.Context(), &catalogv1.ListProductsRequest{Country: "SE"})
		require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	})
}

func TestASingleGiftThatIsNotListed(t *testing.T) {
	t.Parallel()
	f := setup(t)
	hidden, gone := gift(withState(draft)), gift()
	f.put(hidden)
	f.put(gone)
	gone.State = archived
	f.put(gone)
	for _, id := range []string{hidden.GetId(), gone.GetId(), "0196a000-0000-7000-8000-00000000ffff", "no-uuid", ""} {
		refused(f, problem.NotFound, f.catalog.GetProduct, &catalogv1.GetProductRequest{ProductId: id, Country: "SE"})
	}
}
