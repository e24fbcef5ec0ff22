package giftsite

import (
	"net/http"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// The pages of a link by the value of `step` in their query. A form sends the same value to the page that it belongs to.
const (
	stepChoose  = "choose"
	stepLetter  = "letter"
	stepGift    = "gift"
	stepAddress = "address"
	stepReview  = "review"
	// stepInitials is sent by the form of a gift that takes initials. Gateways of release 1.0.0 do not know it, and would lose the
	// initials of stepGift without a word.
	stepInitials = "initials"
	// stepCountry is sent by the address form to change its country. It has no page of its own.
	stepCountry = "country"
	// stepBack is sent by the address form to keep what was typed and show the gift.
	stepBack = "back"
	// stepCorrect, stepCorrected and stepUnchanged are pages of the placed order.
	stepCorrect   = "correct"
	stepCorrected = "corrected"
	stepUnchanged = "unchanged"
	// stepThanks is sent by the form of the placed order. stepThanked is its page after that.
	stepThanks  = "thanks"
	stepThanked = "thanked"
	// stepReopen is the form with which a player sees the order on another device, and the page after it.
	stepReopen = "reopen"
	// stepCalendar is the file for the player's calendar.
	stepCalendar = "calendar"
)

// queryKept in a query says that a form was sent and kept. If the page finds nothing, the browser has no cookie or the draft has
// expired.
const queryKept = "kept"

// getOpen shows a page of a link that can be claimed: the one that the query names, or an earlier one if something is missing.
func (s *Site) getOpen(v *visit) {
	if !s.loadDraft(v) {
		return
	}
	query := v.r.URL.Query()
	step := query.Get(fieldStep)
	if step == "" && query.Has(fieldGift) {
		step = stepGift
	}
	switch step {
	case stepGift:
		s.showGift(v, query.Get(fieldGift))
	case stepAddress, stepReview:
		s.getEntered(v, step)
	case stepChoose:
		s.showGifts(v)
	case stepLetter:
		s.render(v.w, http.StatusOK, pageGreeting, s.greetingView(v.link))
	default:
		s.showFirst(v)
	}
}

// showFirst shows the greeting as a page of its own if there is something to read. Otherwise it is above the gifts.
func (s *Site) showFirst(v *visit) {
	if v.link.GetMessage() == "" && v.link.GetGreeting() == "" || v.draft.GetVersion() > 0 {
		s.showGifts(v)
		return
	}
	s.render(v.w, http.StatusOK, pageGreeting, s.greetingView(v.link))
}

// showGifts lists the gifts. A single gift has its own page instead.
func (s *Site) showGifts(v *visit) {
	if gifts := v.link.GetGifts(); len(gifts) == 1 && !gifts[0].GetOutOfStock() {
		s.render(v.w, http.StatusOK, pageGift, s.giftView(v, gifts[0]))
		return
	}
	s.render(v.w, http.StatusOK, pageList, s.listView(v))
}

func (s *Site) showGift(v *visit, id string) {
	gift := giftOf(v.link, id)
	if gift == nil {
		s.showGifts(v)
		return
	}
	s.render(v.w, http.StatusOK, pageGift, s.giftView(v, gift))
}

// getEntered shows a page that needs what the player has entered on earlier pages.
func (s *Site) getEntered(v *visit, step string) {
	if v.draft.GetVersion() == 0 {
		s.redirect(v, stepChoose, queryKept, "1")
		return
	}
	next := nextStep(v.link, v.draft)
	switch {
	case next == stepChoose, step == stepReview && next == stepGift:
		s.redirectTo(v, next)
	case step == stepReview && next == stepAddress:
		s.redirect(v, stepAddress)
	case step == stepReview:
		s.render(v.w, http.StatusOK, pageReview, s.reviewView(v))
	default:
		s.render(v.w, http.StatusOK, pageAddress, s.addressView(v))
	}
}

// redirectTo redirects to a step, with the chosen gift if it is its page.
func (s *Site) redirectTo(v *visit, step string) {
	if step == stepGift {
		s.redirect(v, step, fieldGift, v.draft.GetGift().GetProductId())
		return
	}
	s.redirect(v, step)
}

// nextStep returns where the player goes on: where something is missing or has to be corrected, and else at the review.
func nextStep(link *linksv1.GetClaimPageResponse, d *linksv1.ClaimDraft) string {
	gift, code := giftOf(link, d.GetGift().GetProductId()), problem.Code(d.GetAnswer().GetCode())
	switch {
	case gift == nil || gift.GetProductId() != d.GetGift().GetProductId():
		return stepChoose
	case code == problem.ProductNotAvailable || code == problem.ProductNotInCampaign:
		return stepChoose
	case !isChosen(gift, d.GetGift().GetVariations()), hasErrorAt(d.GetAnswer(), fieldInitials),
		d.GetGift().GetInitials() != "" && !gift.GetTakesInitials():
		return stepGift
	case code == problem.OutOfStock && len(link.GetGifts()) > 1:
		return stepChoose // The page of the gift does not know yet that it is out of stock.
	case !isComplete(gift, d.GetRecipient()) || code == problem.NotDeliverableToCountry || hasFieldErrors(d.GetAnswer()):
		return stepAddress
	}
	return stepReview
}

// isChosen reports whether a value of every dimension of the gift is picked, and the combination can be chosen now.
func isChosen(gift *linksv1.ClaimGift, picked map[string]string) bool {
	for _, d := range gift.GetVariations() {
		if !slices.Contains(d.GetValues(), picked[d.GetDimension()]) {
			return false
		}
	}
	return !gift.GetOutOfStock() && (len(gift.GetChoices()) == 0 || available(gift, picked))
}

// isComplete reports whether the recipient has all that a claim and the form of its country require. The service checks the rest.
func isComplete(gift *linksv1.ClaimGift, r *linksv1.ClaimRecipient) bool {
	for _, text := range []string{r.GetName(), r.GetStreet(), r.GetCity()} {
		if fields.Blank(text) {
			return false
		}
	}
	_, dialable := phone.ParseIn(r.GetPhone(), r.GetCountry())
	return dialable && slices.Contains(gift.GetCountries(), r.GetCountry()) && checkSecondParts(r) == nil
}

func hasErrorAt(a *linksv1.ClaimAnswer, field string) bool {
	return slices.ContainsFunc(a.GetViolations(), func(v *commonv1.Violation) bool { return v.GetField() == field })
}

func hasFieldErrors(a *linksv1.ClaimAnswer) bool {
	for _, v := range a.GetViolations() {
		if field := fieldOf(v.GetField()); field != "" && field != fieldChoices {
			return true
		}
	}
	return false
}
