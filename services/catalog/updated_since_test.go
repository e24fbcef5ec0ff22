package catalog_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func (s *stack) changedSince(since time.Time) []*catalogv1.ProductEntry {
	return s.list(&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: timestamppb.New(since), Limit: limit(2)})
}

func TestWhatLeftTheCatalogIsUnlisted(t *testing.T) {
	start := time.Unix(0, 0)
	for state, name := range map[catalogv1.ProductState]string{
		catalogv1.ProductState_PRODUCT_STATE_ARCHIVED: "archived",
		catalogv1.ProductState_PRODUCT_STATE_INTERNAL: "made internal",
		catalogv1.ProductState_PRODUCT_STATE_DRAFT:    "unpublished",
	} {
		t.Run(name, func(t *testing.T) {
			s := setup(t)
			p := gift()
			published := s.put(p)
			p.State = state
			left := s.put(p)
			require.True(t, left.After(published))
			entries := s.changedSince(start)
			require.Len(t, entries, 1)
			require.Equal(t, p.GetId(), entries[0].GetUnlisted().GetId())
			require.False(t, entries[0].GetUnlisted().GetListed())
			require.Equal(t, left, entries[0].GetUnlisted().GetUpdatedAt().AsTime())
			require.Empty(t, s.list(&catalogv1.ListProductsRequest{Country: "SE", Limit: limit(2)}), "only on reads with updatedSince")
		})
	}
	t.Run("never published", func(t *testing.T) {
		s := setup(t)
		for _, state := range []catalogv1.ProductState{
			catalogv1.ProductState_PRODUCT_STATE_DRAFT, catalogv1.ProductState_PRODUCT_STATE_INTERNAL,
			catalogv1.ProductState_PRODUCT_STATE_ARCHIVED,
		} {
			s.put(gift(func(p *catalogv1.PutProductRequest) { p.State = state }))
		}
		require.Empty(t, s.changedSince(start))
	})
}

func TestChangesComeInTheirOrder(t *testing.T) {
	s := setup(t)
	a, b, c := gift(), gift(), gift()
	for _, p := range []*catalogv1.PutProductRequest{a, b, c} {
		s.put(p)
	}
	a.Name = "Changed"
	last := s.put(a)
	require.Equal(t, []string{b.GetId(), c.GetId(), a.GetId()}, ids(s.changedSince(time.Unix(0, 0))))
	require.Equal(t, []string{a.GetId()}, ids(s.changedSince(last)), "the instant itself counts")
	require.Empty(t, s.changedSince(last.Add(time.Microsecond)))
}

func TestUpdatedAtMovesWithWhatAReaderCanSee(t *testing.T) {
	s := setup(t)
	s.putRegion("NORDICS", "SE")
	s.putRegion("EMPTY")
	s.putCategory("HOME", "TEXTILES")
	fileID := s.upload(png)
	p := gift(func(p *catalogv1.PutProductRequest) { p.AvailableCountries = []string{"SE", "FI"} })
	last := s.put(p)
	prices := func(region, amount string) func() {
		return func() { p.Prices = []*catalogv1.RegionPrice{{Region: region, AmountEur: amount}} }
	}
	translated := func(name, description string) func() {
		return func() {
			p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: name, Description: description}}
		}
	}
	for _, step := range []struct {
		name   string
		change func()
		moves  bool
	}{
		{"nothing changes", func() {}, false},
		{"countries in another order", func() { p.AvailableCountries = []string{"FI", "SE", "FI"} }, false},
		{"a country goes", func() { p.AvailableCountries = []string{"SE"} }, true},
		{"a name changes", func() { p.Name = "Thick blanket" }, true},
		{"a translation that says the same", translated("Thick blanket", ""), false},
		{"a translation", translated("Tjock filt", ""), true},
		{"a description that was the fallback", translated("Tjock filt", "Warm."), false},
		{"a price where no country is", prices("EMPTY", "5"), false},
		{"a price", prices("NORDICS", "5"), true},
		{"the same price in another spelling", prices("NORDICS", "5.00"), false},
		{"another price", prices("NORDICS", "5.01"), true},
		{"a category", func() { p.Categories = []string{"HOME__TEXTILES"} }, true},
		{"an image", func() { p.ImageFileIds = []string{fileID} }, true},
		{"a variation's values in another order", func() { p.Variations[0].Values = []string{"M", "S"} }, true},
		{"customization", func() { p.CustomizationAvailable = true }, true},
		{"gift set", func() { p.GiftSet = true }, true},
		{"ready to send", func() { p.ReadyToSend = true }, true},
		{"the gift is archived", func() { p.State = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED }, true},
		{"an archived gift changes", func() { p.Name = "Old blanket" }, false},
		{"an archived gift becomes internal", func() { p.State = catalogv1.ProductState_PRODUCT_STATE_INTERNAL }, false},
		{"the gift comes back", func() { p.State = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED }, true},
	} {
		step.change()
		now := s.put(p)
		require.Equal(t, step.moves, now.After(last), step.name)
		require.Equal(t, step.moves, !now.Equal(last), step.name)
		last = now
		require.Equal(t, now, s.put(p), "%s: repeated", step.name)
	}
}

func TestARegionThatGainsOrLosesACountryMovesTheGiftsPricedThere(t *testing.T) {
	s := setup(t)
	s.putRegion("NORDICS", "SE", "FI")
	s.putRegion("BALTICS", "EE")
	put := func(region, amount string) (id string, at time.Time) {
		p := gift(func(p *catalogv1.PutProductRequest) {
			if region != "" {
				p.Prices = []*catalogv1.RegionPrice{{Region: region, AmountEur: amount}}
			}
		})
		return p.GetId(), s.put(p)
	}
	put("", "")
	nordic, _ := put("NORDICS", "7")
	_, last := put("", "")
	next := func() []string { return ids(s.changedSince(last.Add(time.Microsecond))) }

	s.putRegion("NORDICS", "FI", "SE")
	require.Empty(t, next(), "the same countries")
	s.putRegion("BALTICS", "EE", "LT")
	require.Empty(t, next(), "nothing is priced there")
	s.putRegion("BALTICS", "EE", "LT", "FI")
	require.Equal(t, []string{nordic}, next(), "Finland lost its price")
	got, err := s.catalog.GetProduct(s.as(1), &catalogv1.GetProductRequest{ProductId: nordic, Country: "FI"})
	require.NoError(t, err)
	require.False(t, got.GetProduct().GetPriced())
}
