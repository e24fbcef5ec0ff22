package giftsite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// fieldInitials is the input of what is put on a gift.
const fieldInitials = "initials"

var initialsInput = input{
	ID: fieldInitials, LabelKey: fieldInitials, MaxLength: fields.MaxLength(&linksv1.ClaimLinkRequest{}, fieldInitials),
	Type: "text", Autocomplete: "off", Optional: true, Short: true,
}

// initials are those that were typed. Phones write a curly apostrophe.
func initials(typed string) string { return strings.ReplaceAll(text(typed), "\u2019", "'") }

// addInitials adds the input to the page of a gift that takes initials, with those of the draft.
func (p *giftView) addInitials(gift *linksv1.ClaimGift, entered string, answer *linksv1.ClaimAnswer) {
	switch {
	case gift.GetTakesInitials():
		errs := slices.DeleteFunc(p.fieldErrors(answer, []input{initialsInput}),
			func(e formError) bool { return e.Field != fieldInitials })
		f := p.field(initialsInput, "", entered, errs)
		f.Hint = p.T("initials.hint", "n", strconv.Itoa(initialsInput.MaxLength))
		p.Initials, p.Errors, p.Failed = &f, append(p.Errors, errs...), p.Failed || len(errs) > 0
	case entered != "": // It took them when they were typed.
		p.Problem, p.Failed = p.T("problem.initials"), true
	}
}

// withInitials adds what is put on the gift to what was chosen.
func (t *texts) withInitials(chosen []line, initials string) []line {
	if initials == "" {
		return chosen
	}
	return append(chosen, line{Label: t.T(fieldInitials), Text: initials})
}
