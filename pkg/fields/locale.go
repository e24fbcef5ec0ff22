package fields

import (
	"slices"

	"golang.org/x/text/language"
)

// BaseLocale is the locale that every text has.
const BaseLocale = "en-US"

// LocaleFallbacks returns the locale and those that come closest to it by the inheritance of CLDR, then BaseLocale. A language without region
// also stands for the region where most of its speakers are: de-AT, de, de-DE, en-US. A tag that is not BCP 47 is only itself.
func LocaleFallbacks(tag string) []string {
	out := []string{tag}
	add := func(name string) {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	parsed, err := language.Raw.Parse(tag)
	if err == nil {
		for t := parsed; t != language.Und; t = t.Parent() {
			add(t.String())
			add(mostSpoken(t))
		}
	}
	add(BaseLocale)
	return out
}

// mostSpoken adds the likely region to a tag without one.
func mostSpoken(t language.Tag) string {
	base, script, region := t.Raw()
	if region.String() != "ZZ" {
		return ""
	}
	likely, _ := t.Region()
	parts := []any{base, likely}
	if script.String() != "Zzzz" {
		parts = append(parts, script)
	}
	full, err := language.Compose(parts...)
	if err != nil {
		return ""
	}
	return full.String()
}
