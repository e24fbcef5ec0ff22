package server_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
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
