package rules

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/language"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	maxGreetings     = 100
	maxGreeting      = 1000
	maxGreetingLines = 20
)

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
		text := strings.TrimSpace(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(g.GetText()))
		checkGreeting(at(field, i, "text"), text, errs)
		greetings[g.GetLocale()] = text
	}
	return greetings
}

func checkGreeting(path, text string, errs *fields.Errors) {
	errs.Required(path, text, maxGreeting)
	switch {
	case strings.Count(text, "\n") >= maxGreetingLines:
		errs.Add(path, problem.FieldTooLong, fmt.Sprintf("must have at most %d lines", maxGreetingLines))
	case strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) && !errs.Has(path):
		errs.Add(path, problem.FieldInvalid, "must be text without control characters other than line breaks")
	}
}
