package giftsite

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/gateway/internal/giftsite/addressform"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// orderView is the page of a claimed link. Mine is nil for everybody but the browser that claimed it or has reopened it.
type orderView struct {
	view

	// State begins the keys of the page's texts: thanks, sent, delivered or cancelled. For others it is claimed, unless the order was
	// cancelled.
	State string
	// Steps are the progress of the order; empty if it was cancelled.
	Steps []progressStep
	Mine  *ownOrder
	// Arrival is when the gift usually arrives; nil: that is not known, or is over. CalendarHref is the calendar file with it.
	Arrival      *expectedArrival
	CalendarHref string
	// Notice says that what the player has just sent has arrived.
	Notice string
	// Thanks is what the player has written to the brand, ThanksField where it is written. Empty and nil: neither is shown.
	Thanks      string
	ThanksField *field
	// DigitsField is where the player reopens the gift in this browser; nil: Mine is set, or the order was cancelled.
	DigitsField *field
	// Problem is why the form of the page was refused, Errors are those at its input.
	Problem string
	Errors  []formError
}

// ErrorHeading says which form of the page the errors are of.
func (p orderView) ErrorHeading() string {
	if p.DigitsField != nil {
		return p.T("problem.digits")
	}
	return p.T("problem.word.heading")
}

// progressStep is a step on the way of an order. Its text has the key "progress." and the name.
type progressStep struct {
	Name          string
	Done, Current bool
	// Day is when the step was reached; nil: it was not, or the day is not known.
	Day *day
}

// ownOrder is what only the player sees.
type ownOrder struct {
	Reference  string
	Gift       string
	Picture    picture
	Variations []line
	// Address and Contact are as they were typed, or Masked: with most characters hidden. Empty: they were erased, nothing is
	// delivered, or the browser has only reopened the gift.
	Address []string
	Contact []line
	Masked  bool
	// Reopened means that the browser has only reopened the gift.
	Reopened bool
	// Carrier, Tracking and TrackingURL are set once the order was sent, if they are known.
	Carrier, Tracking, TrackingURL string
	// CorrectHref is the page where the address is corrected; empty: it cannot be corrected any more.
	CorrectHref string
	// ComplaintHref is where a player gets help with a gift that was delivered; empty: the brand says nothing.
	ComplaintHref string
}

// orderStates are the keys of the texts, by progress.
var orderStates = map[linksv1.ClaimProgress]string{
	linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING: stateThanks,
	linksv1.ClaimProgress_CLAIM_PROGRESS_SENT:      stateSent,
	linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED: stateDelivered,
	linksv1.ClaimProgress_CLAIM_PROGRESS_CANCELLED: stateCancelled,
}

func (s *Site) orderView(v *visit, found *linksv1.GetClaimedGiftResponse) orderView {
	p := orderView{view: s.linkView(v.link), State: orderStates[found.GetProgress()]}
	p.Steps = p.progressSteps(found)
	p.hideChoosing()
	if gift := found.GetGift(); gift == nil {
		if p.State != stateCancelled {
			p.State = stateClaimed
			p.addReopening(v.refused)
			switch query := v.r.URL.Query(); {
			case !query.Has(queryKept):
			case query.Get(fieldStep) == stepReopen: // The digits were right.
				p.Problem, p.Failed = p.T("problem.reopen.lost"), true
			default: // This browser has just sent a form to claim the gift.
				p.Notice = p.T("claimed.unused")
			}
		}
	} else {
		p.Mine = s.ownOrder(p.texts, gift, typedFor(v.draft, gift))
		if p.State == stateCancelled {
			p.Mine = &ownOrder{Reference: p.Mine.Reference, Gift: p.Mine.Gift, Picture: p.Mine.Picture, Variations: p.Mine.Variations}
		}
		if p.State == stateThanks || p.State == stateSent {
			p.Arrival = p.expected(v.link.GetBrand().GetSite(), gift, s.Clock())
			p.CalendarHref = stepQuery(stepCalendar)
		}
		if site := v.link.GetBrand().GetSite(); p.State != stateCancelled {
			p.addThanks(gift, site.GetWithoutThanks(), v.refused)
			if p.State == stateDelivered {
				p.Mine.ComplaintHref = p.complaintHref(site.GetSupportUrl(), gift.GetReference())
			}
		}
		switch step := v.r.URL.Query().Get(fieldStep); {
		case step == stepCorrected:
			p.Notice = p.T("correct.done")
		case step == stepUnchanged:
			p.Notice = p.T("correct.nothing")
		case step == stepThanked && p.Thanks != "":
			p.Notice = p.T("word.done", "brand", p.Brand)
		}
		if p.Mine.Picture.Sizes = sizesDetail; p.State != stateSent {
			p.markFirst(&p.Mine.Picture)
		}
	}
	if p.State == "" { // A progress that this gateway does not know yet.
		p.State = stateClaimed
	}
	p.setTitle(p.T(p.State + ".heading"))
	return p
}

// refusedText is what a player has typed into the only input of a form, and why it was refused; nil: nothing was.
type refusedText struct {
	Text string
	Why  *problem.Error
	// TriesLeft and Pause are those of digits that were wrong.
	TriesLeft int
	Pause     time.Duration
}

// refusedField makes the only input of a form with what was refused. problemKey is the text of a refusal that is not due to the
// input.
func (p *orderView) refusedField(in input, refused refusedText, problemKey string) field {
	p.Failed = refused.Why != nil
	switch {
	case refused.Why == nil:
	case refused.Why.Code == problem.InvalidRequest:
		for _, v := range refused.Why.Violations {
			p.Errors = []formError{{Field: in.ID, Label: p.T(in.LabelKey), Text: p.fieldError(in, v.Code), Href: "#" + in.ID}}
		}
	default:
		p.Problem = p.T(problemKey)
	}
	return p.field(in, "", refused.Text, p.Errors)
}

// typedFor is where the gift is sent, as the player has typed it; nil: that is not kept any more, or another one changed it since.
func typedFor(draft *linksv1.ClaimDraft, gift *linksv1.ClaimedGift) *linksv1.ClaimRecipient {
	if gift.CorrectableVersion == nil {
		return nil
	}
	return typedAt(draft, gift.GetCorrectableVersion())
}

// typedAt is typedFor of an order with the version.
func typedAt(draft *linksv1.ClaimDraft, version int64) *linksv1.ClaimRecipient {
	switch {
	case draft.GetOrderVersion() != version:
		return nil
	case draft.GetVersion() == 0:
		return draft.GetRecipient()
	}
	return draft.GetOrdered()
}

func (s *Site) ownOrder(t *texts, gift *linksv1.ClaimedGift, typed *linksv1.ClaimRecipient) *ownOrder {
	recipient := cmp.Or(typed, gift.GetMaskedRecipient())
	mine := &ownOrder{
		Reference: gift.GetReference(), Gift: cmp.Or(gift.GetShown().GetName(), gift.GetProductName()),
		Picture:    s.pictureOf(gift.GetShown().GetImages(), gift.GetVariations()),
		Variations: t.withInitials(t.orderedVariations(gift), gift.GetInitials()), Masked: typed == nil,
		Address: t.envelopeLines(recipient), Contact: t.contactLines(recipient),
		Carrier: gift.GetCarrier(), Tracking: gift.GetTrackingReference(),
	}
	t.describe(&mine.Picture, gift.GetShown(), gift.GetVariations())
	if fields.IsURL(gift.GetTrackingUrl(), "https") {
		mine.TrackingURL = gift.GetTrackingUrl()
	}
	if gift.CorrectableVersion != nil {
		mine.CorrectHref = stepQuery(stepCorrect)
	}
	mine.Reopened = recipient == nil && gift.GetDeliveredAt() == nil
	return mine
}

// orderedVariations are the chosen values of an order. Those of dimensions that the gift no longer has are in the words of the
// order.
func (t *texts) orderedVariations(gift *linksv1.ClaimedGift) []line {
	lines := t.variationLines(gift.GetShown(), gift.GetVariations())
	for _, dimension := range slices.Sorted(maps.Keys(gift.GetVariations())) {
		former := &linksv1.ClaimVariation{Dimension: dimension}
		known := func(d *linksv1.ClaimVariation) bool { return d.GetDimension() == dimension }
		if !slices.ContainsFunc(gift.GetShown().GetVariations(), known) {
			lines = append(lines, line{Label: t.dimension(former), Text: gift.GetVariations()[dimension]})
		}
	}
	return lines
}

// progressSteps returns the steps of an order, none if it was cancelled. The time of packing is not recorded.
func (t *texts) progressSteps(found *linksv1.GetClaimedGiftResponse) (steps []progressStep) {
	const packed, sent, delivered = 1, 2, 3
	reached := map[linksv1.ClaimProgress]int{
		linksv1.ClaimProgress_CLAIM_PROGRESS_PREPARING: packed, linksv1.ClaimProgress_CLAIM_PROGRESS_SENT: sent,
		linksv1.ClaimProgress_CLAIM_PROGRESS_DELIVERED: delivered,
	}
	current, ok := reached[found.GetProgress()]
	if !ok {
		return nil
	}
	gift := found.GetGift()
	times := []*timestamppb.Timestamp{gift.GetClaimedAt(), nil, gift.GetSentAt(), gift.GetDeliveredAt()}
	for i, name := range []string{"chosen", "packed", "sent", "delivered"} {
		done := i < current || current == delivered
		step := progressStep{Name: name, Done: done, Current: i == current && !done}
		if i <= current {
			step.Day = t.day(times[i])
		}
		if step.Current && i == packed {
			step.Name = "packing"
		}
		steps = append(steps, step)
	}
	return steps
}

// correctView is the page where a player corrects the address of the order.
type correctView struct {
	view

	// Fields have the texts of the order. If the browser may not see them, they are empty, with masked texts as hints. What is empty
	// does not change.
	Fields []field
	// Masked means that the browser sees only masked texts.
	Masked bool
	// Country cannot be changed. Its code is sent back, because the other inputs depend on it.
	Country, CountryCode string
	// Version of the order that is corrected.
	Version int64
	// Problem is why nothing was corrected, if it belongs to no input.
	Problem string
	Errors  []formError
}

func (s *Site) correctView(v *visit, gift *linksv1.ClaimedGift) correctView {
	p := correctView{view: s.linkView(v.link), Version: gift.GetCorrectableVersion()}
	p.hideChoosing()
	masked, known := gift.GetMaskedRecipient(), typedFor(v.draft, gift)
	p.Masked = known == nil
	shown, hidden, entered := enteredIn(known), enteredIn(masked), map[string]string{}
	if v.draft.GetVersion() > 0 && v.draft.GetAnswer() != nil { // A correction that was refused.
		entered = enteredIn(v.draft.GetRecipient())
	}
	p.Country = p.countryName(masked.GetCountry())
	p.CountryCode = masked.GetCountry()
	// The order has its region in the city, and the second line in the street.
	form := slices.DeleteFunc(addressForm(masked.GetCountry(), p.Lang), func(in input) bool {
		return in.ID == addressform.Region || in.ID == addressform.Street2
	})
	answer := v.draft.GetAnswer()
	p.Errors = p.fieldErrors(answer, form)
	for _, in := range form {
		in.Optional = in.Optional || p.Masked
		f := p.field(in, masked.GetCountry(), cmp.Or(entered[in.ID], shown[in.ID]), p.Errors)
		f.Hint = p.hint(in, masked.GetCountry())
		if p.Masked && hidden[in.ID] != "" {
			f.Hint = p.T("correct.now", "text", hidden[in.ID])
		}
		p.Fields = append(p.Fields, f)
	}
	switch problem.Code(answer.GetCode()) {
	case "":
	case problem.VersionConflict:
		p.Problem = p.T("problem.corrected")
	case problem.RateLimited:
		p.Problem = p.T("problem.corrections")
	default:
		if len(p.Errors) == 0 {
			p.Problem = p.T("problem.correct")
		}
	}
	p.Failed = answer.GetCode() != ""
	p.setTitle(p.T("correct.heading"))
	return p
}

// getClaimed shows how far the order is. The browser whose form claimed the link also sees the gift, the parcel and the address.
// One that has reopened it sees the gift and the parcel. Others with the link see the progress only: perhaps the link was passed
// on, and the number of a parcel leads to its address.
func (s *Site) getClaimed(v *visit) {
	req := &linksv1.GetClaimedGiftRequest{Token: v.token}
	if v.nonce != "" {
		req.FormNonce = proto.String(v.nonce)
	}
	found, err := s.Links.GetClaimedGift(v.r.Context(), req)
	switch {
	case problem.Is(err, problem.NotFound): // Orders has lost it, or the link is being erased.
		s.renderState(v.w, v.link)
		return
	case err != nil:
		s.unavailable(v.w, v.r, err)
		return
	case found.GetGift() == nil:
		s.render(v.w, http.StatusOK, pageOrder, s.orderView(v, found))
		return
	}
	s.keepNonce(v, orderLifetime)
	if found.GetGift().CorrectableVersion != nil {
		if !s.loadDraft(v) {
			return
		}
		if v.r.URL.Query().Get(fieldStep) == stepCorrect {
			s.render(v.w, http.StatusOK, pageCorrect, s.correctView(v, found.GetGift()))
			return
		}
	}
	p := s.orderView(v, found)
	if p.Arrival != nil && v.r.URL.Query().Get(fieldStep) == stepCalendar {
		s.writeCalendar(v, p, found.GetGift().GetClaimedAt().AsTime())
		return
	}
	s.render(v.w, http.StatusOK, pageOrder, p)
}

// postCorrection corrects where the gift is sent. Inputs that are empty, or as the page has shown them, change nothing.
func (s *Site) postCorrection(v *visit, f form) {
	if !s.loadDraft(v) {
		return
	}
	stored := typedAt(v.draft, f.Version)
	for name, text := range enteredIn(stored) {
		if f.Entered[name] == text || name == fieldPhone && f.Entered[name] == phone.WithoutCallingCode(text, stored.GetCountry()) {
			f.Entered[name] = ""
		}
	}
	recipient := f.recipient()
	recipient.Country = "" // It stays.
	typed := &linksv1.SaveClaimDraftRequest{Recipient: recipient}
	if f.Shown && stored == nil {
		// What the player has changed cannot be separated from what the page has shown, which may be older than another correction. So
		// a refusal keeps nothing of it.
		typed.Recipient = nil
	}
	if len(f.InvalidText) > 0 {
		typed.Answer = violations(problem.FieldInvalid, f.InvalidText...)
		if s.saveDraft(v, typed) {
			s.redirect(v, stepCorrect)
		}
		return
	}
	if proto.Size(recipient) == 0 {
		s.redirect(v, stepUnchanged)
		return
	}
	if v.nonce == "" {
		s.redirect(v, "")
		return
	}
	_, err := s.Links.CorrectClaimedGift(v.r.Context(), &linksv1.CorrectClaimedGiftRequest{
		Token: v.token, FormNonce: v.nonce, ExpectedVersion: f.Version, Recipient: recipient,
	})
	switch {
	case problem.Is(err, problem.NotEditable): // The first page shows that it was sent.
		s.redirect(v, "")
	case err != nil:
		s.saveFormError(v, typed, err, stepCorrect)
	default:
		s.redirect(v, stepCorrected)
	}
}
