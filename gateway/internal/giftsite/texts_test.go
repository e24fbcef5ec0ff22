package giftsite

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

func read(t *testing.T) *translations {
	t.Helper()
	tr, err := readTranslations()
	require.NoError(t, err)
	return tr
}

var placeholder = regexp.MustCompile(`\{\w+\}`)

// placeholders are those of a text, sorted.
func placeholders(text string) []string {
	found := placeholder.FindAllString(text, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// formsOf are the plural forms that whole numbers of a language have.
func formsOf(tag language.Tag) []plural.Form {
	found := map[plural.Form]bool{}
	for n := range 201 {
		found[plural.Cardinal.MatchPlural(tag, n, 0, 0, 0, 0)] = true
	}
	found[plural.Cardinal.MatchPlural(tag, 1_000_000, 0, 0, 0, 0)] = true
	return slices.Sorted(maps.Keys(found))
}

// isRegional reports that the texts of a dictionary are only what differs from another one of its language.
func (tr *translations) isRegional(d *dictionary) bool {
	base, _ := d.tag.Base()
	for _, name := range fields.LocaleFallbacks(d.locale)[1:] {
		other, ok := tr.byLocale[name]
		if !ok {
			continue
		}
		if otherBase, _ := other.tag.Base(); otherBase == base {
			return true
		}
	}
	return false
}

func TestTranslationsHaveTheSameTextsPlaceholdersAndPlurals(t *testing.T) {
	t.Parallel()
	tr := read(t)
	files, err := textFiles.ReadDir("texts")
	require.NoError(t, err)
	require.Len(t, files, len(tr.byLocale), "pkg/fields lists the locale of each file")
	complete := 0
	for name, d := range tr.byLocale {
		for key, m := range d.words {
			english, ok := tr.byLocale[fields.BaseLocale].words[key]
			require.True(t, ok, "%s: %s is in no other language", name, key)
			if english.plural == nil {
				require.Nil(t, m.plural, "%s: %s", name, key)
				require.NotEmpty(t, m.text, "%s: %s", name, key)
				require.Equal(t, placeholders(english.text), placeholders(m.text), "%s: %s", name, key)
				continue
			}
			require.Empty(t, m.text, "%s: %s has no plural forms", name, key)
			wanted := slices.Compact(slices.Sorted(slices.Values(append(formsOf(d.tag), plural.Other))))
			require.Equal(t, wanted, slices.Sorted(maps.Keys(m.plural)), "%s: %s", name, key)
			require.Equal(t, placeholders(english.plural[plural.Other]), placeholders(m.plural[plural.Other]), "%s: %s", name, key)
			for form, text := range m.plural {
				require.Subset(t, placeholders(english.plural[plural.Other]), placeholders(text), "%s: %s %v", name, key, form)
			}
		}
		if tr.isRegional(d) {
			parent := tr.textsFor(d.locale).dictionaries[1]
			for key, m := range d.words {
				require.NotEqual(t, parent.words[key], m, "%s: %s is what %s says, too", name, key, parent.locale)
			}
			continue
		}
		complete++
		require.Len(t, d.words, len(tr.byLocale[fields.BaseLocale].words), name)
	}
	require.GreaterOrEqual(t, complete, 13)
}

func TestATextFallsBackToTheClosestOne(t *testing.T) {
	t.Parallel()
	tr := read(t)
	for name, want := range map[string][]string{
		"en-US": {"en-US"}, "en-GB": {"en-GB", "en-US"}, "": {"en-US"}, "no locale": {"en-US"}, "ja-JP": {"en-US"},
		"de-AT": {"de-AT", "de-DE", "en-US"}, "de-LI": {"de-DE", "en-US"}, "pt-BR": {"pt-PT", "en-US"}, "nn-NO": {"nb-NO", "en-US"},
	} {
		var got []string
		for _, d := range tr.textsFor(name).dictionaries {
			got = append(got, d.locale)
		}
		require.Equal(t, want, got, name)
		require.Equal(t, want[0], tr.textsFor(name).Lang)
	}
	swiss := tr.textsFor("de-CH")
	require.Equal(t, "Strasse und Hausnummer", swiss.T("street"))
	require.Equal(t, "Ort", swiss.T("city"))
	require.Equal(t, "Straße und Hausnummer", tr.textsFor("de-AT").T("street"))
	delete(tr.byLocale["de-DE"].words, "city")
	require.Equal(t, "City", tr.textsFor("de-CH").T("city"), "a missing text is in English")
}

func TestSwissTextsHaveNoSharpS(t *testing.T) {
	t.Parallel()
	tr := read(t)
	swiss := tr.textsFor("de-CH")
	for key := range tr.byLocale[fields.BaseLocale].words {
		m, _ := swiss.find(key)
		for _, text := range append(slices.Collect(maps.Values(m.plural)), m.text) {
			require.NotContains(t, text, "ß", key)
		}
	}
}

func TestPluralsFollowTheRulesOfTheLanguage(t *testing.T) {
	t.Parallel()
	tr := read(t)
	for _, tc := range []struct {
		locale string
		n      int
		want   string
	}{
		{"en-US", 1, "At most 1 character"},
		{"pl-PL", 22, "Najwyżej 22 znaki"},
		{"pl-PL", 20, "Najwyżej 20 znaków"},
		{"ar", 2, "حرفان كحد أقصى"},
		{"ar", 5, "\u20685\u2069 أحرف كحد أقصى"},
		{"fr-FR", 0, "Au maximum 0 caractère"},
	} {
		require.Equal(t, tc.want, tr.textsFor(tc.locale).N("error.too_long", tc.n), "%s %d", tc.locale, tc.n)
	}
}

func TestTheDirectionIsThatOfTheLanguage(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"ar": "rtl", "ar-SA": "rtl", "en-US": "ltr", "he-IL": "ltr", "sv-SE": "ltr"} {
		require.Equal(t, want, read(t).textsFor(name).Dir(), name) // Pages for Hebrew are in English.
	}
}

func TestTheClosestLanguageIsUsed(t *testing.T) {
	t.Parallel()
	tr := read(t)
	for header, want := range map[string]string{
		"": "en-US", "sv": "sv-SE", "sv-FI,fi;q=0.9": "sv-SE", "de-CH;q=0.8, en;q=0.2": "de-CH", "ja": "en-US", "ar-EG": "ar",
		"en-GB, sv;q=0.5": "en-GB", "ja, sv;q=0.5": "sv-SE", ";;;": "en-US", "\xff": "en-US", "*": "en-US", "pt-BR": "pt-PT",
	} {
		require.Equal(t, want, tr.accepted(header).Lang, header)
	}
}

func TestEveryCountryHasANameInEveryLanguage(t *testing.T) {
	t.Parallel()
	tr := read(t)
	for name := range tr.byLocale {
		countries := tr.textsFor(name).allCountries()
		require.Len(t, countries, len(fields.Countries()))
		for _, c := range countries {
			require.NotEmpty(t, c.Name, c.Code)
			require.NotEqual(t, c.Code, c.Name, name)
		}
	}
}

func TestEveryLabelOfAnAddressHasAText(t *testing.T) {
	t.Parallel()
	texts := read(t).textsFor("en-US")
	for _, code := range fields.Countries() {
		for _, f := range addressform.For(code, "en-US").Fields {
			require.True(t, texts.Has(f.Label), "%s: %s", code, f.Label)
		}
	}
}

// An input that is missing is named as its label names it, or not at all.
func TestAMissingInputIsNamedAsItsLabel(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]input{
		"Enter the city":         {ID: addressform.City, LabelKey: "city"},
		"Enter the town or city": {ID: addressform.City, LabelKey: "city.post_town"},
		"Enter the ZIP code":     {ID: addressform.PostalCode, LabelKey: "postalCode.zip"},
		"Fill in this field":     {ID: addressform.City, LabelKey: "city.suburb"},
	} {
		require.Equal(t, want, read(t).textsFor("en-US").fieldError(in, problem.FieldRequired))
	}
	bydel := input{ID: addressform.City, LabelKey: "city.district"}
	require.Equal(t, "Udfyld dette felt", read(t).textsFor("da-DK").fieldError(bydel, problem.FieldRequired))
}

func TestADayIsWrittenAsInItsLanguage(t *testing.T) {
	t.Parallel()
	tr := read(t)
	for name, want := range map[string][2]string{
		"ar": {"\u20683\u2069 \u2068نوفمبر\u2069", "1 \u2068مارس\u2069"}, "de-DE": {"3. November", "1. März"},
		"en-US": {"November 3", "March 1"}, "fi-FI": {"3. marraskuuta", "1. maaliskuuta"}, "fr-FR": {"3 novembre", "1er mars"},
	} {
		for i, date := range []time.Time{time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC), time.Date(2027, 3, 1, 23, 59, 0, 0, time.UTC)} {
			shown := tr.textsFor(name).day(timestamppb.New(date))
			require.Equal(t, day{Date: date.Format("2006-01-02"), Text: want[i]}, *shown, name)
		}
		months := map[string]bool{}
		for month := range 12 {
			key := "month." + strconv.Itoa(month+1)
			months[tr.textsFor(name).T(key)] = true
		}
		require.Len(t, months, 12, name)
	}
	require.Nil(t, tr.textsFor("en-US").day(nil))
}

func TestAPlaceholderIsReplacedOnce(t *testing.T) {
	t.Parallel()
	require.Equal(t, "A gift for {label}", read(t).textsFor("en-US").T("gift.for", "label", "{label}"))
}

func TestANameInTheOtherDirectionIsIsolated(t *testing.T) {
	t.Parallel()
	require.Equal(t, "A gift for \u2068علي\u2069", read(t).textsFor("en-US").T("gift.for", "label", "علي"))
	require.Equal(t, "A gift for Åsa", read(t).textsFor("en-US").T("gift.for", "label", "Åsa"))
	require.Equal(t, "هدية إلى \u2068Åsa\u2069", read(t).textsFor("ar").T("gift.for", "label", "Åsa"))
}

func TestAKnownDimensionIsTranslated(t *testing.T) {
	t.Parallel()
	german := read(t).textsFor("de-DE")
	require.Equal(t, "Farbe", german.dimension(&linksv1.ClaimVariation{Dimension: "Colour", Name: "Colour"}))
	require.Equal(t, "Farbton", german.dimension(&linksv1.ClaimVariation{Dimension: "Colour", Name: "Farbton"}))
	require.Equal(t, "Gravur", german.dimension(&linksv1.ClaimVariation{Dimension: "Gravur"}))
}
