package giftsite

import (
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// giftView is the page of one gift, where it is chosen with its variations.
type giftView struct {
	view
	choices

	Gift card
	// Pictures are all pictures of the gift. The first is also that of its card.
	Pictures []picture
	// OnlyGift means that the link has no other gift. The page then also has the greeting.
	OnlyGift bool
	// Problem is why the player has to choose again, if it belongs to no choice.
	Problem string
	// Errors are all errors of the page, in its order.
	Errors []formError
	// AllGifts is the page of all gifts.
	AllGifts string
}

func (s *Site) giftView(v *visit, gift *linksv1.ClaimGift) giftView {
	p := giftView{
		view: s.linkView(v.link), Gift: s.cardOf(gift), Pictures: s.picturesOf(gift.GetImages()), OnlyGift: len(v.link.GetGifts()) == 1,
		AllGifts: stepQuery(stepChoose),
	}
	if !p.OnlyGift || v.r.URL.Query().Get(fieldStep) != "" {
		p.begun()
		p.setTitle(gift.GetName())
	}
	for i := range p.Pictures {
		p.Pictures[i].Sizes = sizesDetail
	}
	if len(p.Pictures) > 0 {
		p.seenFirst(&p.Pictures[0])
	}
	var picked map[string]string
	chosen := v.draft.GetGift().GetProductId() == gift.GetProductId()
	if chosen {
		picked = v.draft.GetGift().GetVariations()
	}
	p.choices = choicesOf(p.texts, gift, picked)
	if v.isLost() {
		p.Problem, p.Failed = p.T("problem.lost"), true
	}
	if code := problem.Code(v.draft.GetAnswer().GetCode()); chosen &&
		(code == problem.InvalidVariations || code == problem.OutOfStock) {
		p.addErrors(picked)
	}
	return p
}

// addErrors adds the errors of a choice that cannot be made.
func (p *giftView) addErrors(picked map[string]string) {
	for i := range p.Groups {
		g := &p.Groups[i]
		switch {
		case g.isGone(picked):
			g.Error = p.T("error.choice.gone")
		case !g.isChosen():
			g.Error = p.T("error.choice.required", "group", g.Legend)
		default:
			continue
		}
		p.Errors = append(p.Errors, formError{Field: fieldChoices, Text: g.Error, Href: "#" + g.firstID()})
	}
	if last := len(p.Groups) - 1; last >= 0 && len(p.Errors) == 0 { // Each value alone is available, or another one was preselected.
		p.Groups[last].Error = p.T("error.choice.gone")
		p.Errors = []formError{{Field: fieldChoices, Text: p.Groups[last].Error, Href: "#" + p.Groups[last].firstID()}}
	}
	if p.Whole != nil && len(p.Errors) > 0 { // The groups or the list are shown.
		p.Whole.Error = p.Errors[0].Text
		for i := range p.Errors {
			p.Errors[i].Href = "#picks"
		}
	}
	p.Failed = len(p.Errors) > 0
}
