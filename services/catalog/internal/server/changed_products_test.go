package server_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestAGiftThatLeftTheCatalogIsUnlisted(t *testing.T) {
	t.Parallel()
	start := time.Unix(0, 0)
	f := setup(t)
	for _, state := range []catalogv1.ProductState{archived, internal, draft} {
		t.Run(state.String(), func(t *testing.T) {
			p := gift()
			listed := f.put(p)
			p.State = state
			left := f.put(p)
			require.True(t, left.After(listed))
			entries := f.changedSince(left)
			require.Len(t, entries, 1)
			require.Equal(t, p.GetId(), entries[0].GetUnlisted().GetId())
			require.False(t, entries[0].GetUnlisted().GetListed())
			require.Equal(t, left, entries[0].GetUnlisted().GetUpdatedAt().AsTime())
			require.Empty(t, f.list(&catalogv1.ListProductsRequest{Country: "SE", Limit: limit(2)}), "only on reads with updatedSince")
		})
	}
	t.Run("unless it was never published", func(t *testing.T) {
		require.Len(t, f.changedSince(start), 3)
		for _, state := range []catalogv1.ProductState{draft, internal, archived} {
			f.put(gift(withState(state)))
		}
		require.Len(t, f.changedSince(start), 3)
	})
}

func TestChangesComeInTheirOrder(t *testing.T) {
	t.Parallel()
	f := setup(t)
	a, b, c := gift(), gift(), gift()
	for _, p := range []*catalogv1.PutProductRequest{a, b, c} {
		f.put(p)
	}
	a.Name = "Changed"
	last := f.put(a)
	require.Equal(t, []string{b.GetId(), c.GetId(), a.GetId()}, ids(f.changedSince(time.Unix(0, 0))))
	require.Equal(t, []string{a.GetId()}, ids(f.changedSince(last)), "the instant itself counts")
	require.Empty(t, f.changedSince(last.Add(time.Microsecond)))
}

func TestUpdatedAtChangesWithWhatAReaderCanSee(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE")
	f.putRegion("EMPTY")
	f.putCategory("HOME", "TEXTILES")
	fileID := f.upload(png)
	p := gift(func(p *catalogv1.PutProductRequest) { p.AvailableCountries = []string{"SE", "FI"} })
	last := f.put(p)
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
		{"the gift is archived", func() { p.State = archived }, true},
		{"an archived gift changes", func() { p.Name = "Old blanket" }, false},
		{"an archived gift becomes internal", func() { p.State = internal }, false},
		{"the gift comes back", func() { p.State = published }, true},
	} {
		step.change()
		now := f.put(p)
		require.Equal(t, step.moves, now.After(last), step.name)
		require.Equal(t, step.moves, !now.Equal(last), step.name)
		last = now
		require.Equal(t, now, f.put(p), "%s: repeated", step.name)
	}
}

func TestARegionThatGainsOrLosesACountryChangesTheGiftsPricedThere(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE", "FI")
	f.putRegion("BALTICS", "EE")
	put := func(region, amount string) (id string, at time.Time) {
		p := gift(func(p *catalogv1.PutProductRequest) {
			if region != "" {
				p.Prices = []*catalogv1.RegionPrice{{Region: region, AmountEur: amount}}
			}
		})
		return p.GetId(), f.put(p)
	}
	put("", "")
	nordic, _ := put("NORDICS", "7")
	_, last := put("", "")
	next := func() []string { return ids(f.changedSince(last.Add(time.Microsecond))) }

	f.putRegion("NORDICS", "FI", "SE")
	require.Empty(t, next(), "the same countries")
	f.putRegion("BALTICS", "EE", "LT")
	require.Empty(t, next(), "nothing is priced there")
	f.putRegion("BALTICS", "EE", "LT", "FI")
	require.Equal(t, []string{nordic}, next(), "Finland lost its price")
	got := call(f, f.catalog.GetProduct, &catalogv1.GetProductRequest{ProductId: nordic, Country: "FI"})
	require.False(t, got.GetProduct().GetPriced())
}
