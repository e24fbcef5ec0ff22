package server_test

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func (f *fixture) record(id string) *catalogv1.ProductRecord {
	f.t.Helper()
	return call(f, f.products.GetProductRecord, &catalogv1.GetProductRecordRequest{ProductId: id}).GetRecord()
}

func TestAGiftIsChangedOnePartAtATime(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE")
	f.putRate("NOK", "11.50")
	p := gift(withState(draft))
	f.put(p)
	id := p.GetId()

	call(f, f.products.SetProductPrices, &catalogv1.SetProductPricesRequest{
		ProductId: id, Actor: staff(), Prices: []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "7.5"}},
	})
	call(f, f.products.SetProductAvailability, &catalogv1.SetProductAvailabilityRequest{
		ProductId: id, Actor: staff(), AvailableCountries: []string{"SE", "FI"},
	})
	call(f, f.products.SetProductTranslations, &catalogv1.SetProductTranslationsRequest{
		ProductId: id, Actor: staff(), Translations: []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt"}},
	})
	last := call(f, f.products.SetProductState, &catalogv1.SetProductStateRequest{ProductId: id, Actor: staff(), State: published})

	got := call(f, f.catalog.GetProduct, &catalogv1.GetProductRequest{ProductId: id, Country: "FI", Locale: text("sv-SE")})
	require.Equal(t, "Ullfilt", got.GetProduct().GetName())
	require.True(t, got.GetProduct().GetAvailable())
	require.False(t, got.GetProduct().GetPriced(), "Finland is in no region")
	require.Equal(t, last.GetUpdatedAt().AsTime(), got.GetProduct().GetUpdatedAt().AsTime())
	require.Equal(t, []string{"product.state", "product.translations", "product.availability", "product.prices"}, f.audit(id))
	t.Run("the record equals the request that would put the gift again", func(t *testing.T) {
		r := f.record(id)
		require.True(t, r.GetPublishedOnce())
		require.Equal(t, "7.50", r.GetProduct().GetPrices()[0].GetAmountEur())
		require.Equal(t, r.GetUpdatedAt().AsTime(), f.put(r.GetProduct()), "nothing changed")
		require.True(t, proto.Equal(r, f.record(id)))
	})
	t.Run("a call that changes nothing changes neither updatedAt nor the audit", func(t *testing.T) {
		same := call(f, f.products.SetProductAvailability, &catalogv1.SetProductAvailabilityRequest{
			ProductId: id, Actor: staff(), AvailableCountries: []string{"FI", "SE", "FI"},
		})
		require.Equal(t, last.GetUpdatedAt().AsTime(), same.GetUpdatedAt().AsTime())
		require.Len(t, f.audit(id), 4)
	})
	t.Run("archiving suspends the gift in its campaigns and unlists it", func(t *testing.T) {
		c := f.campaignIn(running, nil, offering(id, onDemand, nil, "S"))
		left := call(f, f.products.SetProductState, &catalogv1.SetProductStateRequest{ProductId: id, Actor: staff(), State: archived})
		require.Equal(t, needsReview, f.readCampaign(c).GetOfferings()[0].GetStatus())
		entries := f.changedSince(left.GetUpdatedAt().AsTime())
		require.Len(t, entries, 1)
		require.Equal(t, id, entries[0].GetUnlisted().GetId())
	})
	t.Run("regions and rates are listed", func(t *testing.T) {
		regions := call(f, f.products.ListRegions, &catalogv1.ListRegionsRequest{})
		require.Len(t, regions.GetRegions(), 1)
		require.Equal(t, []string{"SE"}, regions.GetRegions()[0].GetCountries())
		rates := call(f, f.products.ListExchangeRates, &catalogv1.ListExchangeRatesRequest{})
		require.Equal(t, "NOK", rates.GetRates()[0].GetCurrency())
		require.Equal(t, "11.5", rates.GetRates()[0].GetRate())
		for currency, priced := range map[string]bool{"EUR": true, "NOK": true, "SEK": false, "nok": false, "": false, "\x00": false} {
			got := call(f, f.currencies.CheckCurrency, &catalogv1.CheckCurrencyRequest{Currency: currency})
			require.Equal(t, priced, got.GetPriced(), currency)
		}
	})
}

func TestListsOfProductRecords(t *testing.T) {
	t.Parallel()
	f := setup(t)
	states := []catalogv1.ProductState{draft, archived, internal, published}
	byState := map[catalogv1.ProductState]int{}
	for i := range 10 {
		f.put(gift(withState(states[i%4])))
		byState[states[i%4]]++
	}
	list := func(req *catalogv1.ListProductRecordsRequest) []*catalogv1.ProductRecord {
		return pages(t, req.GetLimit(), func(after *string) ([]*catalogv1.ProductRecord, *string) {
			req.After = after
			page := call(f, f.products.ListProductRecords, req)
			return page.GetRecords(), page.NextCursor
		})
	}
	for _, n := range []int32{1, 3, 100} {
		seen := map[string]bool{}
		for _, r := range list(&catalogv1.ListProductRecordsRequest{Limit: limit(n)}) {
			seen[r.GetProduct().GetId()] = true
		}
		require.Len(t, seen, 10)
	}
	for state, want := range byState {
		found := list(&catalogv1.ListProductRecordsRequest{State: state, Limit: limit(1)})
		require.Len(t, found, want)
		for _, r := range found {
			require.Equal(t, state, r.GetProduct().GetState())
		}
	}
}

func TestInvalidProductOperations(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	for name, tc := range map[string]struct{ got, want codes }{
		"a state": {
			violations(f, f.products.SetProductState, &catalogv1.SetProductStateRequest{}),
			codes{"productId": "required", "actor": "required", "state": "required"},
		},
		"prices": {
			violations(f, f.products.SetProductPrices, &catalogv1.SetProductPricesRequest{
				Prices: []*catalogv1.RegionPrice{{Region: "nordics", AmountEur: "-1"}},
			}),
			codes{"productId": "required", "actor": "required", "prices[0].region": "invalid", "prices[0].amountEur": "invalid"},
		},
		"a price of no region": {
			violations(f, f.products.SetProductPrices, &catalogv1.SetProductPricesRequest{
				ProductId: p.GetId(), Actor: staff(), Prices: []*catalogv1.RegionPrice{{Region: "NOWHERE", AmountEur: "1"}},
			}),
			codes{"prices[0].region": "invalid"},
		},
		"countries": {
			violations(f, f.products.SetProductAvailability, &catalogv1.SetProductAvailabilityRequest{
				AvailableCountries: []string{"SE", "XX"},
			}),
			codes{"productId": "required", "actor": "required", "availableCountries[1]": "invalid"},
		},
		"a list": {
			violations(f, f.products.ListProductRecords, &catalogv1.ListProductRecordsRequest{State: 99, Limit: limit(0), After: text("?")}),
			codes{"state": "invalid", "limit": "invalid", "after": "invalid"},
		},
		"an audit": {
			violations(f, f.products.ListAudit, &catalogv1.ListAuditRequest{SubjectId: "x"}),
			codes{"subjectId": "invalid"},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, tc.got) })
	}
	refused(f, problem.NotFound, f.products.SetProductState,
		&catalogv1.SetProductStateRequest{ProductId: uuid.NewString(), State: draft, Actor: staff()})
	refused(f, problem.NotFound, f.products.GetProductRecord, &catalogv1.GetProductRecordRequest{ProductId: "none"})
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
		r, err := f.catalog.GetProduct(f.keyContext(version), &catalogv1.GetProductRequest{ProductId: p.GetId(), Country: country})
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

func TestACursorBelongsToItsQuery(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.put(gift())
	f.put(gift())
	since := timestamppb.New(time.Unix(0, 0))
	first := func(req *catalogv1.ListProductsRequest) *string {
		req.Limit = limit(1)
		return call(f, f.catalog.ListProducts, req).NextCursor
	}
	after := first(&catalogv1.ListProductsRequest{Country: "SE"})
	changed := first(&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: since})
	forged, err := base64.RawURLEncoding.DecodeString(*changed)
	require.NoError(t, err)
	forged[9] = 0x7f // The first byte of the time, which is then far beyond the database's range.
	testInvalid(f, f.catalog.ListProducts, map[string]invalidRequest[*catalogv1.ListProductsRequest]{
		"without updatedSince": {&catalogv1.ListProductsRequest{Country: "SE", After: changed}, codes{"after": "invalid"}},
		"another updatedSince": {
			&catalogv1.ListProductsRequest{
				Country: "SE", UpdatedSince: timestamppb.New(time.Unix(1, 0)), After: changed,
			}, codes{"after": "invalid"},
		},
		"a time out of reach": {
			&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: since, After: text(base64.RawURLEncoding.EncodeToString(forged))},
			codes{"after": "invalid"},
		},
		"with an invalid filter, which is reported alone": {&catalogv1.ListProductsRequest{After: after}, codes{"country": "required"}},
	})
	one := &catalogv1.ListProductsRequest{Country: "SE", Limit: limit(1)}
	pagetest.RequireBound(t, one, func(req *catalogv1.ListProductsRequest) (string, error) {
		resp, err := f.catalog.ListProducts(f.keyContext(1), req)
		return resp.GetNextCursor(), err
	}, map[protoreflect.Name]any{"country": "FI", "locale": "sv-SE"})
	for _, locale := range []string{"en-US", " "} { // Both mean the same as no locale.
		call(f, f.catalog.ListProducts, &catalogv1.ListProductsRequest{Country: "SE", Locale: &locale, After: after})
	}
}

func TestInvalidQueries(t *testing.T) {
	t.Parallel()
	f := setup(t)
	t.Run("all violations are reported together with the edge's", func(t *testing.T) {
		ctx := f.keyContext(1, problem.Violation{Field: "updatedSince", Code: problem.FieldInvalid, Message: "must be an instant"})
		_, err := f.catalog.ListProducts(ctx, &catalogv1.ListProductsRequest{Locale: text("xx"), Limit: limit(0), After: text("?")})
		require.Equal(t, codes{
			"updatedSince": "invalid", "country": "required", "locale": "not_enabled", "limit": "invalid", "after": "invalid",
		}, violationsOf(t, err))
	})
	require.Equal(t, codes{"locale": "not_enabled"},
		violations(f, f.catalog.ListCategories, &catalogv1.ListCategoriesRequest{Locale: text("de-DE")}))
	require.Equal(t, codes{"updatedSince": "invalid"}, violations(f, f.catalog.ListProducts,
		&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: &timestamppb.Timestamp{Seconds: 1 << 60}}), "beyond the calendar")
	_, err := f.catalog.ListProducts(t.Context(), &catalogv1.ListProductsRequest{Country: "SE"})
	require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
}
