package fields

import (
	"slices"

	"golang.org/x/text/language"
)

// SiteLocales are those in which the gift site has texts. The first is used if no other matches. A language has all texts in one
// locale; its other locales have only those that differ in their region.
var SiteLocales = []string{
	BaseLocale, "ar", "da-DK", "de-AT", "de-CH", "de-DE", "en-GB", "es-ES", "fi-FI", "fr-FR", "it-IT", "nb-NO", "nl-NL", "pl-PL",
	"pt-PT", "sv-SE",
}

var siteMatcher = language.NewMatcher(localeTags(SiteLocales))

// ClosestSiteLocale returns the locale of the gift site that comes closest to the tags.
func ClosestSiteLocale(tags ...language.Tag) string {
	_, i, _ := siteMatcher.Match(tags...)
	return SiteLocales[i]
}

// SitePageLocales returns the locales whose texts a page in a locale has: its own, then those of its language, then the closest
// other language, such as Danish for Faroese, at last English.
func SitePageLocales(locale string) []string {
	out := slices.DeleteFunc(LocaleFallbacks(locale),
		func(l string) bool { return l == BaseLocale || !slices.Contains(SiteLocales, l) })
	tag, err := language.Parse(locale)
	if base, _ := tag.Base(); err == nil && len(out) == 0 && base.String() != "en" {
		if closest := ClosestSiteLocale(tag); closest != BaseLocale {
			out = append(out, closest)
		}
	}
	return append(out, BaseLocale)
}

// SiteHasLanguage reports whether the gift site has texts in the language of a locale.
func SiteHasLanguage(locale string) bool {
	shown, _ := language.Make(SitePageLocales(locale)[0]).Base()
	wanted, _ := language.Make(locale).Base()
	return shown == wanted
}

func localeTags(names []string) []language.Tag {
	out := make([]language.Tag, len(names))
	for i, name := range names {
		out[i] = language.Make(name)
	}
	return out
}
