package catalog_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// list follows all pages.
func (s *stack) list(req *catalogv1.ListProductsRequest) []*catalogv1.ProductEntry {
	s.t.Helper()
	var all []*catalogv1.ProductEntry
	req.After = nil
	for {
		page, err := s.catalog.ListProducts(s.as(1), req)
		require.NoError(s.t, err)
		all = append(all, page.GetItems()...)
		if page.NextCursor == nil {
			return all
		}
		require.Len(s.t, page.GetItems(), int(req.GetLimit()))
		req.After = page.NextCursor
	}
}

func limit(n int32) *int32 { return &n }

func text(s string) *string { return &s }

func ids(entries []*catalogv1.ProductEntry) []string {
	out := make([]string, len(entries))
	for i, e := range entries {
		out[i] = e.GetProduct().GetId()
	}
	return out
}

func TestAListedGiftInFull(t *testing.T) {
	s := setup(t)
	s.putRegion("NORDICS", "SE", "FI")
	s.putRate("SEK", "11.3333")
	s.putCategory("HOME", "TEXTILES", "KITCHEN")
	fileID := s.upload(png)
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt"}}
		p.Categories = []string{"HOME__TEXTILES", "HOME__KITCHEN"}
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "12.5"}}
		p.ImageFileIds = []string{fileID}
		p.CustomizationAvailable, p.GiftSet, p.ReadyToSend = true, true, true
	})
	updatedAt := s.put(p)
	require.Equal(t, updatedAt, updatedAt.Truncate(time.Microsecond))

	page, err := s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{Country: "SE", Locale: text("sv-SE")})
	require.NoError(t, err)
	require.Nil(t, page.NextCursor)
	require.Len(t, page.GetItems(), 1)
	got := page.GetItems()[0].GetProduct()
	require.Equal(t, p.GetId(), got.GetId())
	require.Equal(t, "Ullfilt", got.GetName())
	require.Equal(t, "Warm.", got.GetDescription(), "falls back where the translation has none")
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

	single, err := s.catalog.GetProduct(s.as(1), &catalogv1.GetProductRequest{ProductId: p.GetId(), Country: "SE", Locale: text("sv-SE")})
	require.NoError(t, err)
	require.Equal(t, got.String(), single.GetProduct().String())
}

func TestEstimatesDependOnCountryAndCurrency(t *testing.T) {
	s := setup(t)
	s.putRegion("NORDICS", "SE", "FI")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "10"}}
	})
	before := s.put(p)
	get := func(country string, version int64) *catalogv1.Product {
		r, err := s.catalog.GetProduct(s.as(version), &catalogv1.GetProductRequest{ProductId: p.GetId(), Country: country})
		require.NoError(t, err)
		return r.GetProduct()
	}
	t.Run("a currency without rate has no estimate, though the gift is priced", func(t *testing.T) {
		got := get("SE", 1)
		require.True(t, got.GetPriced())
		require.Equal(t, "10.00", got.GetEstimateEur().GetAmount())
		require.Nil(t, got.GetEstimate())
	})
	t.Run("a new rate counts at once and does not move updatedAt", func(t *testing.T) {
		s.putRate("SEK", "11")
		s.putRate("SEK", "11.5")
		got := get("SE", 1)
		require.Equal(t, "115.00", got.GetEstimate().GetAmount())
		require.Equal(t, before, got.GetUpdatedAt().AsTime())
	})
	t.Run("a country the gift cannot go to still shows the price of its region", func(t *testing.T) {
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
		asked := s.directory.asked()
		s.directory.set(2, "EUR", "en-US")
		require.Equal(t, "SEK", get("SE", 1).GetEstimate().GetCurrency())
		require.Equal(t, asked, s.directory.asked(), "the copy serves while nothing has changed")
		require.Equal(t, "EUR", get("SE", 2).GetEstimate().GetCurrency())
		require.Equal(t, "10.00", get("SE", 2).GetEstimate().GetAmount())
		require.Equal(t, asked+1, s.directory.asked())
	})
}

func TestPagesOfTheFirstLoad(t *testing.T) {
	s := setup(t)
	var want []string
	for i := range 23 {
		p := gift(func(p *catalogv1.PutProductRequest) { p.Name = fmt.Sprintf("Gift %d", i) })
		if i%5 == 0 {
			p.State = catalogv1.ProductState_PRODUCT_STATE_DRAFT
		} else {
			want = append(want, p.GetId())
		}
		s.put(p)
	}
	slices.Sort(want)
	for _, n := range []int32{1, 6, 18, 100} {
		require.Equal(t, want, ids(s.list(&catalogv1.ListProductsRequest{Country: "SE", Limit: limit(n)})), "limit %d", n)
	}
}

func TestACursorBelongsToItsQuery(t *testing.T) {
	s := setup(t)
	s.put(gift())
	s.put(gift())
	since := timestamppb.New(time.Unix(0, 0))
	first := func(req *catalogv1.ListProductsRequest) *string {
		req.Limit = limit(1)
		page, err := s.catalog.ListProducts(s.as(1), req)
		require.NoError(t, err)
		require.NotNil(t, page.NextCursor)
		return page.NextCursor
	}
	after := first(&catalogv1.ListProductsRequest{Country: "SE"})
	changed := first(&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: since})
	forged, err := base64.RawURLEncoding.DecodeString(*changed)
	require.NoError(t, err)
	forged[9] = 0x7f // The first byte of the time: far beyond what the database can hold.
	for name, req := range map[string]*catalogv1.ListProductsRequest{
		"another country":       {Country: "FI", After: after},
		"another locale":        {Country: "SE", Locale: text("sv-SE"), After: after},
		"with updatedSince":     {Country: "SE", UpdatedSince: since, After: after},
		"without updatedSince":  {Country: "SE", After: changed},
		"another updatedSince":  {Country: "SE", UpdatedSince: timestamppb.New(time.Unix(1, 0)), After: changed},
		"no cursor at all":      {Country: "SE", After: text("nonsense")},
		"a time out of reach":   {Country: "SE", UpdatedSince: since, After: text(base64.RawURLEncoding.EncodeToString(forged))},
		"a cursor that was cut": {Country: "SE", After: text((*after)[:8])},
		"an empty cursor":       {Country: "SE", After: text("")},
		"a blank cursor":        {Country: "SE", After: text(" ")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.catalog.ListProducts(s.as(1), req)
			require.Equal(t, map[string]string{"after": problem.FieldInvalid}, violations(t, err))
		})
	}
	_, err = s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{Country: "SE", Locale: text("en-US"), After: after})
	require.NoError(t, err, "en-US is what no locale means")
	_, err = s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{Country: "SE", Locale: text(" "), After: after})
	require.NoError(t, err, "and what a blank one means")
	_, err = s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{After: after})
	require.Equal(t, map[string]string{"country": problem.FieldRequired}, violations(t, err),
		"nothing can be said of a cursor beside a faulty filter")
	_, err = s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{Country: "FI", After: after, Limit: limit(0)})
	require.Equal(t, map[string]string{"after": problem.FieldInvalid, "limit": problem.FieldInvalid}, violations(t, err),
		"the size of a page is no filter")
}

func TestFaultyQueries(t *testing.T) {
	s := setup(t)
	t.Run("all faults are told together with the edge's", func(t *testing.T) {
		ctx := s.as(1, problem.Violation{Field: "updatedSince", Code: problem.FieldInvalid, Message: "must be an instant"})
		_, err := s.catalog.ListProducts(ctx, &catalogv1.ListProductsRequest{Locale: text("xx"), Limit: limit(0), After: text("?")})
		require.Equal(t, map[string]string{
			"updatedSince": problem.FieldInvalid, "country": problem.FieldRequired, "locale": problem.FieldNotEnabled,
			"limit": problem.FieldInvalid, "after": problem.FieldInvalid,
		}, violations(t, err))
	})
	t.Run("an unsupported locale names the supported ones", func(t *testing.T) {
		for _, err := range []error{
			func() error {
				_, err := s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{Country: "SE", Locale: text("de-DE")})
				return err
			}(),
			func() error {
				_, err := s.catalog.ListCategories(s.as(1), &catalogv1.ListCategoriesRequest{Locale: text("de-DE")})
				return err
			}(),
		} {
			p, ok := problem.As(err)
			require.True(t, ok)
			require.Len(t, p.Violations, 1)
			require.Equal(t, "locale", p.Violations[0].Field)
			require.Contains(t, p.Violations[0].Message, "en-US, sv-SE")
		}
	})
	t.Run("a country is an assigned code in upper case", func(t *testing.T) {
		for _, country := range []string{"se", "XX", "SWE", "EU", "S\x00"} {
			_, err := s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{Country: country})
			require.Equal(t, map[string]string{"country": problem.FieldInvalid}, violations(t, err), country)
			_, err = s.catalog.GetProduct(s.as(1), &catalogv1.GetProductRequest{Country: country})
			require.Equal(t, map[string]string{"country": problem.FieldInvalid}, violations(t, err), country)
		}
	})
	t.Run("a limit is 1 to 100", func(t *testing.T) {
		for _, n := range []int32{-1, 0, 101} {
			_, err := s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{Country: "SE", Limit: limit(n)})
			require.Equal(t, map[string]string{"limit": problem.FieldInvalid}, violations(t, err))
		}
	})
	t.Run("an instant beyond the calendar", func(t *testing.T) {
		_, err := s.catalog.ListProducts(s.as(1), &catalogv1.ListProductsRequest{
			Country: "SE", UpdatedSince: &timestamppb.Timestamp{Seconds: 1 << 60},
		})
		require.Equal(t, map[string]string{"updatedSince": problem.FieldInvalid}, violations(t, err))
	})
	t.Run("no key", func(t *testing.T) {
		_, err := s.catalog.ListProducts(t.Context(), &catalogv1.ListProductsRequest{Country: "SE"})
		require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
	})
}

func TestASingleGiftThatIsNotListed(t *testing.T) {
	s := setup(t)
	draft := gift(func(p *catalogv1.PutProductRequest) { p.State = catalogv1.ProductState_PRODUCT_STATE_DRAFT })
	archived := gift()
	s.put(draft)
	s.put(archived)
	archived.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
	s.put(archived)
	for _, id := range []string{draft.GetId(), archived.GetId(), "0196a000-0000-7000-8000-00000000ffff", "no-uuid", ""} {
		_, err := s.catalog.GetProduct(s.as(1), &catalogv1.GetProductRequest{ProductId: id, Country: "SE"})
		require.True(t, problem.Is(err, problem.NotFound), "%q: %v", id, err)
	}
}
