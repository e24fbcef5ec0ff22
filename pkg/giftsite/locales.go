package giftsite

import (
	"slices"

	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/fields"
)

// Locales are those in which the gift site has texts. The first is what matches nothing else. A language has one locale with all
// texts; another region has only what is different there.
var Locales = []string{
	fields.BaseLocale, "ar", "da-DK", "de-AT", "de-CH", "de-DE", "en-GB", "es-ES", "fi-FI", "fr-FR",
	"it-IT", "nb-NO", "nl-NL", "pl-PL", "pt-PT", "sv-SE",
}

var matcher = language.NewMatcher(tags(Locales))

// ClosestLocale returns the locale of the gift site that comes closest to the tags.
func ClosestLocale(of ...language.Tag) string {
	_, i, _ := matcher.Match(of...)
	return Locales[i]
}

// PageLocales returns the locales whose texts a page has that is shown in a locale: its own, then those of its language, then the
// closest other language, such as Danish for Faroese, at last English.
func PageLocales(of string) []string {
	out := slices.DeleteFunc(fields.LocaleFallbacks(of),
		func(l string) bool { return l == fields.BaseLocale || !slices.Contains(Locales, l) })
	tag, err := language.Parse(of)
	if base, _ := tag.Base(); err == nil && len(out) == 0 && base.String() != "en" {
		if closest := ClosestLocale(tag); closest != fields.BaseLocale {
			out = append(out, closest)
		}
	}
	return append(out, fields.BaseLocale)
}

// Speaks reports whether the gift site has texts in the language of a locale.
func Speaks(of string) bool {
	shown, _ := language.Make(PageLocales(of)[0]).Base()
	wanted, _ := language.Make(of).Base()
	return shown == wanted
}

func tags(names []string) []language.Tag {
	out := make([]language.Tag, len(names))
	for i, name := range names {
		out[i] = language.Make(name)
	}
	return out
}
