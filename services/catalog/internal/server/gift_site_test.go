package server_test

import (
	"bytes"
	imagejpeg "image/jpeg"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// inSwedish has the Swedish words for the variations of a gift.
func inSwedish(locale string) *catalogv1.ProductTranslation {
	return &catalogv1.ProductTranslation{Locale: locale, Name: "Ullfilt", Variations: []*catalogv1.VariationTranslation{
		{Dimension: "Size", Name: "Storlek", Values: map[string]string{"S": "Liten"}},
	}}
}

func (f *fixture) siteGifts(selection *catalogv1.Selection, locale string) *catalogv1.ListSelectionGiftsResponse {
	f.t.Helper()
	return call(f, f.selections.ListSelectionGifts, &catalogv1.ListSelectionGiftsRequest{
		TenantId: tenantID, Selection: selection, Locale: locale,
	})
}

func TestTranslationsOfVariationsAreStoredAndNotSeenByIntegrators(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt"}}
	})
	before := f.put(p)
	set := &catalogv1.SetProductTranslationsRequest{
		ProductId: p.GetId(), Actor: staff(), Translations: []*catalogv1.ProductTranslation{inSwedish("sv-SE")},
	}
	changed := call(f, f.products.SetProductTranslations, set)
	require.Equal(t, before, changed.GetUpdatedAt().AsTime(), "readers of the API see no change")
	require.Equal(t, []string{"product.translations"}, f.audit(p.GetId()))
	stored := f.record(p.GetId()).GetProduct().GetTranslations()
	require.True(t, proto.Equal(set.GetTranslations()[0], stored[0]), "%v", stored)
	t.Run("words for what the gift does not have are refused", func(t *testing.T) {
		wrong := proto.CloneOf(set)
		wrong.Translations[0].Variations[0].Values["XXL"] = "Enorm"
		wrong.Translations[0].Variations = append(wrong.Translations[0].Variations, &catalogv1.VariationTranslation{
			Dimension: "Colour", Name: "Färg",
		})
		want := codes{"translations[0].variations[0].values.XXL": "invalid", "translations[0].variations[1].dimension": "invalid"}
		require.Equal(t, want, violations(f, f.products.SetProductTranslations, wrong))
		put := proto.CloneOf(p)
		put.Translations = wrong.GetTranslations()
		require.Equal(t, want, violations(f, f.ops.PutProduct, put))
	})
	t.Run("texts are checked", func(t *testing.T) {
		wrong := proto.CloneOf(set)
		wrong.Translations[0].Variations = []*catalogv1.VariationTranslation{
			{Dimension: "Size", Values: map[string]string{"S": strings.Repeat("x", 101)}}, {Dimension: "Size", Name: "x"}, {Name: "x"},
		}
		require.Equal(t, codes{
			"translations[0].variations[0].name": "required", "translations[0].variations[0].values.S": "too_long",
			"translations[0].variations[1].dimension": "duplicate", "translations[0].variations[2].dimension": "required",
		}, violations(f, f.products.SetProductTranslations, wrong))
	})
}

func TestTheGiftSiteSaysWhatAGiftIs(t *testing.T) {
	t.Parallel()
	swedish := inSwedish("sv-SE")
	swedish.Details = &catalogv1.GiftDetails{Material: "Ull", Story: "Vävd.\nI Gotland."}
	detailed := func(p *catalogv1.PutProductRequest) {
		p.Details = &catalogv1.GiftDetails{Maker: "Weavers & Co", Material: "Wool", Size: "130 × 180 cm", Story: " "}
		p.Translations = []*catalogv1.ProductTranslation{swedish}
	}
	for environment, setup := range environments {
		t.Run(environment, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			p, plain := gift(detailed, func(p *catalogv1.PutProductRequest) { p.CustomizationAvailable = true }), gift()
			f.put(p)
			f.put(plain)
			c := f.campaignIn(running, nil,
				offering(p.GetId(), stocked, limit(2), "S", "M"), offering(plain.GetId(), onDemand, nil, "S"))
			for _, selection := range []*catalogv1.Selection{ofCampaign(c), ofGifts(p.GetId(), plain.GetId())} {
				for _, locale := range []string{"sv-SE", "sv-FI", "sv"} {
					shown := f.siteGifts(selection, locale).GetGifts()[0]
					require.Equal(t, []string{"Ullfilt", "Warm."}, []string{shown.GetName(), shown.GetDescription()}, "a missing text is in en-US")
					require.Len(t, shown.GetVariationTranslations(), 1)
					require.True(t, proto.Equal(inSwedish("").GetVariations()[0], shown.GetVariationTranslations()[0]))
					require.Equal(t, []string{"S", "M"}, shown.GetVariations()[0].GetValues(), "what is posted stays as in the catalog")
					require.True(t, proto.Equal(&catalogv1.GiftDetails{
						Maker: "Weavers & Co", Material: "Ull", Size: "130 × 180 cm", Story: "Vävd.\nI Gotland.",
					}, shown.GetDetails()))
				}
				german := f.siteGifts(selection, "de-DE").GetGifts()
				require.Empty(t, german[0].GetVariationTranslations())
				require.Empty(t, german[0].GetDetails().GetStory(), "a blank text is none")
				require.True(t, german[0].GetCustomizationAvailable())
				require.False(t, german[1].GetCustomizationAvailable())
			}
			for _, sku := range f.readCampaign(c).GetOfferings()[0].GetSkus() {
				require.Contains(t, []string{"S", "M"}, sku.GetVariations()["Size"])
			}
		})
	}
	t.Run("integrators see no change", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		p := gift()
		before := f.put(p)
		require.Nil(t, f.siteGifts(ofGifts(p.GetId()), "sv-SE").GetGifts()[0].GetDetails())
		detailed(p)
		p.Translations = nil
		require.Equal(t, before, f.put(p))
		set := &catalogv1.SetProductTranslationsRequest{
			ProductId: p.GetId(), Actor: staff(), Translations: []*catalogv1.ProductTranslation{proto.CloneOf(swedish)},
		}
		set.Translations[0].Name = p.GetName()
		require.Equal(t, before, call(f, f.products.SetProductTranslations, set).GetUpdatedAt().AsTime())
		call(f, f.products.SetProductTranslations, set)
		require.Equal(t, []string{"product.translations"}, f.audit(p.GetId()), "a repetition changes nothing")
		stored := f.record(p.GetId()).GetProduct()
		require.True(t, proto.Equal(set.GetTranslations()[0], stored.GetTranslations()[0]), "%v", stored)
		require.Equal(t, "Weavers & Co", stored.GetDetails().GetMaker(), "that of en-US stays")
		require.NotContains(t, f.lastDetail(p.GetId()), "Weavers & Co", "it was not set")
		imported := call(f, f.imports.ImportProducts,
			&catalogv1.ImportProductsRequest{Products: []*catalogv1.PutProductRequest{stored}})
		require.Equal(t, catalogv1.ImportOutcome_IMPORT_OUTCOME_UNCHANGED, imported.GetResults()[0].GetOutcome())
	})
	t.Run("texts are checked", func(t *testing.T) {
		t.Parallel()
		f := setup(t)
		long := strings.Repeat("ä", 101)
		lines := &catalogv1.GiftDetails{Maker: "a\nb", Material: "a\nb", Size: "a\nb", Story: "a\x1bb"}
		p := gift(func(p *catalogv1.PutProductRequest) {
			p.Details = &catalogv1.GiftDetails{Maker: long, Material: long, Size: long, Story: strings.Repeat("ä\n", 1001)}
			p.Translations = []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt", Details: lines}}
		})
		inLocale := codes{
			"translations[0].details.maker": "invalid", "translations[0].details.material": "invalid",
			"translations[0].details.size": "invalid", "translations[0].details.story": "invalid",
		}
		require.Equal(t, inLocale, violations(f, f.products.SetProductTranslations, &catalogv1.SetProductTranslationsRequest{
			ProductId: p.GetId(), Actor: staff(), Translations: p.GetTranslations(),
		}))
		want := codes{
			"details.maker": "too_long", "details.material": "too_long", "details.size": "too_long", "details.story": "too_long",
		}
		maps.Copy(want, inLocale)
		require.Equal(t, want, violations(f, f.ops.PutProduct, p))
	})
}

func TestAnImageSaysWhichValuesItShows(t *testing.T) {
	t.Parallel()
	for environment, setup := range environments {
		t.Run(environment, func(t *testing.T) {
			t.Parallel()
			f := setup(t)
			image := f.upload(png)
			p := gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{image} })
			before := f.put(p)
			p.ImageVariations = []*catalogv1.ImageVariations{{FileId: image, Variations: map[string]string{"Size": "M"}}}
			require.Equal(t, before, f.put(p), "integrators see no change")
			c := f.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "S", "M"))
			for _, selection := range []*catalogv1.Selection{ofCampaign(c), ofGifts(p.GetId())} {
				shown := f.siteGifts(selection, "sv-SE").GetGifts()[0].GetImageVariations()
				require.Len(t, shown, 1)
				require.True(t, proto.Equal(p.GetImageVariations()[0], shown[0]), "%v", shown)
			}
			require.True(t, proto.Equal(p.GetImageVariations()[0], f.record(p.GetId()).GetProduct().GetImageVariations()[0]))
			again := call(f, f.imports.ImportProducts,
				&catalogv1.ImportProductsRequest{Products: []*catalogv1.PutProductRequest{p}})
			require.Equal(t, catalogv1.ImportOutcome_IMPORT_OUTCOME_UNCHANGED, again.GetResults()[0].GetOutcome())
			other := f.upload(heroJPEG())
			p.ImageVariations = []*catalogv1.ImageVariations{
				{FileId: image, Variations: map[string]string{"Size": "XXL", "Colour": "Red"}},
				{FileId: image, Variations: map[string]string{"Size": "M"}},
				{FileId: other},
				{Variations: map[string]string{"Size": "M"}},
			}
			require.Equal(t, codes{
				"imageVariations[0].variations.Size": "invalid", "imageVariations[0].variations.Colour": "invalid",
				"imageVariations[1].fileId": "duplicate", "imageVariations[2].fileId": "invalid",
				"imageVariations[2].variations": "required", "imageVariations[3].fileId": "required",
			}, violations(f, f.ops.PutProduct, p))
		})
	}
}

func TestWhatAnImageShowsEndsWithTheImageOrItsValue(t *testing.T) {
	t.Parallel()
	f := setup(t)
	image, other := f.upload(png), f.upload(heroJPEG())
	for name, set := range map[string]string{
		"image": `image_file_ids = image_file_ids[2:]`,
		"value": `variations = replace(variations::text, '"M"', '"Medium"')::jsonb`,
	} {
		t.Run(name, func(t *testing.T) {
			p := gift(func(p *catalogv1.PutProductRequest) {
				p.ImageFileIds = []string{image, other}
				p.ImageVariations = []*catalogv1.ImageVariations{
					{FileId: image, Variations: map[string]string{"Size": "M"}}, {FileId: other, Variations: map[string]string{"Size": "S"}},
				}
			})
			f.put(p)
			// As release 1.0.0, which does not know image_variations.
			pgtest.Exec(t, f.db, `UPDATE products SET `+set+` WHERE id = $1`, p.GetId())
			record := f.record(p.GetId()).GetProduct()
			shown := f.siteGifts(ofGifts(p.GetId()), "sv-SE").GetGifts()[0].GetImageVariations()
			for _, got := range [][]*catalogv1.ImageVariations{record.GetImageVariations(), shown} {
				require.Len(t, got, 1)
				require.Equal(t, other, got[0].GetFileId())
			}
			f.put(record)
		})
	}
}

func TestGreetingsOfACampaign(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	c := campaign(offering(p.GetId(), onDemand, nil, "S"))
	f.putCampaign(c)
	set := func(greetings ...*catalogv1.CampaignGreeting) *catalogv1.SetCampaignGreetingsRequest {
		return &catalogv1.SetCampaignGreetingsRequest{TenantId: tenantID, CampaignId: c.GetId(), Actor: staff(), Greetings: greetings}
	}
	require.Nil(t, f.siteGifts(ofCampaign(c.GetId()), "sv-SE").Greeting)
	english, german := "A good year.\nThank you.", "Ein gutes Jahr."
	good := set(
		&catalogv1.CampaignGreeting{Locale: "en-US", Text: "A good year.\r\nThank you.\n "},
		&catalogv1.CampaignGreeting{Locale: "de-DE", Text: german},
	)
	call(f, f.campaigns.SetCampaignGreetings, good)
	call(f, f.campaigns.SetCampaignGreetings, good)
	require.Equal(t, []string{"campaign.greetings"}, f.audit(c.GetId()), "a repetition changes nothing")
	f.putCampaign(c)
	for locale, want := range map[string]string{"en-US": english, "sv-SE": english, "de-AT": german, "de-DE": german, "": english} {
		require.Equal(t, want, f.siteGifts(ofCampaign(c.GetId()), locale).GetGreeting(), locale)
	}
	require.Nil(t, f.siteGifts(ofGifts(p.GetId()), "en-US").Greeting, "a selection of the catalog has none")
	record := call(f, f.campaigns.GetCampaignRecord, &catalogv1.GetCampaignRecordRequest{TenantId: tenantID, CampaignId: c.GetId()})
	require.Len(t, record.GetRecord().GetGreetings(), 2)
	require.Equal(t, "de-DE", record.GetRecord().GetGreetings()[0].GetLocale())

	require.Equal(t, codes{
		"greetings[0].locale": "invalid", "greetings[0].text": "required", "greetings[1].text": "too_long",
		"greetings[2].locale": "duplicate", "greetings[2].text": "invalid",
		"greetings[3].text": "too_long", "greetings[3].locale": "required",
	}, violations(f, f.campaigns.SetCampaignGreetings, set(
		&catalogv1.CampaignGreeting{Locale: "EN_us", Text: "\n"},
		&catalogv1.CampaignGreeting{Locale: "fi-FI", Text: strings.Repeat("x", 1001)},
		&catalogv1.CampaignGreeting{Locale: "fi-FI", Text: "a\x1bb"},
		&catalogv1.CampaignGreeting{Text: strings.Repeat("x\n", 20) + "x"},
	)))
	call(f, f.campaigns.SetCampaignGreetings, set())
	require.Nil(t, f.siteGifts(ofCampaign(c.GetId()), "en-US").Greeting)
}

func TestAHeroPictureIsShownOnlyForTheBrandThatUploadedIt(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	c := f.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "S"))
	hero := call(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{
		TenantId: tenantID, BrandId: brandID, Content: heroJPEG(),
	})
	require.Equal(t, publicURL+"/catalog/images/"+hero.GetFileId(), hero.GetUrl())
	shown := func(brand, file string) (urls []string) {
		resp := call(f, f.selections.ListSelectionGifts, &catalogv1.ListSelectionGiftsRequest{
			TenantId: tenantID, Selection: ofCampaign(c), BrandId: &brand, HeroImageId: &file,
		})
		for _, image := range resp.GetHero() {
			urls = append(urls, image.GetUrl())
		}
		return urls
	}
	urls := shown(brandID, hero.GetFileId())
	require.Greater(t, len(urls), 1, "it has renditions")
	require.True(t, slices.Contains(urls, hero.GetUrl()))
	for _, u := range urls {
		require.True(t, f.open(u[strings.LastIndexByte(u, '/')+1:]), u)
	}
	require.Empty(t, shown(uuid.NewString(), hero.GetFileId()), "another brand")
	require.Empty(t, shown(brandID, f.upload(png)), "an image of a gift")
	require.Empty(t, f.siteGifts(ofCampaign(c), "en-US").GetHero())
	require.Equal(t, codes{"brandId": "invalid"}, violations(f, f.logos.UploadBrandHero,
		&catalogv1.UploadBrandHeroRequest{TenantId: tenantID, BrandId: uuid.NewString(), Content: png}))
	require.Equal(t, codes{
		"tenantId": "required", "brandId": "required", "content": "required",
	}, violations(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{}))
}

func TestAHeroPictureThatIsTheImageOfAGiftTooIsShownWide(t *testing.T) {
	t.Parallel()
	f := setup(t)
	content := encoded(func(b *bytes.Buffer) error { return imagejpeg.Encode(b, drawing(2000, 700), nil) })
	hero := f.upload(content)
	p := gift(func(p *catalogv1.PutProductRequest) { p.ImageFileIds = []string{hero} })
	f.put(p)
	before, _ := f.listed(p.GetId())
	require.Equal(t, hero, call(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{
		TenantId: tenantID, BrandId: brandID, Content: content,
	}).GetFileId())
	resp := call(f, f.selections.ListSelectionGifts, &catalogv1.ListSelectionGiftsRequest{
		TenantId: tenantID, Selection: ofGifts(p.GetId()), BrandId: new(brandID), HeroImageId: &hero,
	})
	var widths []int32
	for _, image := range resp.GetHero() {
		widths = append(widths, image.GetWidth())
	}
	require.Equal(t, []int32{320, 640, 1280, 1920, 0}, widths)
	after, _ := f.listed(p.GetId())
	require.Subset(t, after, before, "ids stay valid")
}

func TestThePageKnowsThePicturesOfItsBrand(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	logo := call(f, f.logos.UploadBrandLogo, &catalogv1.UploadBrandLogoRequest{
		TenantId: tenantID, BrandId: brandID, Content: png,
	}).GetUrl()
	own := logo[strings.LastIndexByte(logo, '/')+1:]
	hero := call(f, f.logos.UploadBrandHero, &catalogv1.UploadBrandHeroRequest{
		TenantId: tenantID, BrandId: brandID, Content: heroJPEG(),
	}).GetFileId()
	request := func(brand string, ids ...string) *catalogv1.ListSelectionGiftsRequest {
		return &catalogv1.ListSelectionGiftsRequest{
			TenantId: tenantID, Selection: ofGifts(p.GetId()), Locale: "en-US", BrandId: &brand, PictureIds: ids,
		}
	}
	known := func(brand string, ids ...string) []string {
		return call(f, f.selections.ListSelectionGifts, request(brand, ids...)).GetPictureIds()
	}
	require.ElementsMatch(t, []string{own, hero}, known(brandID, own, strings.Repeat("0b", 16), hero))
	require.Empty(t, known(uuid.NewString(), own, hero), "another brand")
	require.Equal(t, codes{"pictureIds[1]": "invalid"},
		violations(f, f.selections.ListSelectionGifts, request(brandID, own, "a\x00")))
	require.Equal(t, codes{"pictureIds": "too_long"},
		violations(f, f.selections.ListSelectionGifts, request(brandID, slices.Repeat([]string{own}, 11)...)))
}

func TestThePageNamesTheCategoriesOfItsGifts(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putCategory("HOME", "TEXTILES", "KITCHEN")
	f.putCategory("UNUSED", "X")
	call(f, f.ops.PutCategory, &catalogv1.PutCategoryRequest{
		Category: &catalogv1.Category{
			Code: "FOOD", Name: "Food", Subcategories: []*catalogv1.Subcategory{{Code: "FOOD__SWEETS", Name: "Sweets"}},
		},
		Translations: []*catalogv1.CategoryTranslation{{Locale: "sv-SE", Code: "FOOD", Name: "Mat"}}, Position: -1,
	})
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Categories = []string{"HOME__TEXTILES", "FOOD__SWEETS", "HOME__KITCHEN"}
	})
	f.put(p)
	got := f.siteGifts(ofGifts(p.GetId()), "sv-FI")
	require.Equal(t, []string{"HOME", "FOOD"}, got.GetGifts()[0].GetCategories())
	require.Len(t, got.GetCategories(), 2)
	require.Equal(t, "Mat", got.GetCategories()[0].GetName())
	require.Equal(t, "HOME", got.GetCategories()[1].GetCode())
}
