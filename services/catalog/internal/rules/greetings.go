package rules

import (
	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/giftsite"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const maxGreetings = 100

// ReadGreetings validates the greetings of a campaign and returns them by locale, with plain line breaks.
func ReadGreetings(list []*catalogv1.CampaignGreeting, errs *fields.Errors) map[string]string {
	const field = "greetings"
	atMost(field, len(list), maxGreetings, errs)
	greetings, locales := map[string]string{}, once{}
	for i, g := range list {
		path := at(field, i, "locale")
		errs.Required(path, g.GetLocale(), MaxLocale)
		if tag, err := language.Raw.Parse(g.GetLocale()); (err != nil || tag.String() != g.GetLocale()) && !errs.Has(path) {
			errs.Add(path, problem.FieldInvalid, "must be a BCP 47 tag such as sv-SE")
		}
		locales.check(path, g.GetLocale(), errs)
		greetings[g.GetLocale()] = giftsite.Greeting(at(field, i, "text"), g.GetText(), errs)
	}
	return greetings
}
