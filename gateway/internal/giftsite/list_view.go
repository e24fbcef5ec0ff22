package giftsite

import (
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// greetingView is the page with what the brand says before the gifts are shown.
type greetingView struct {
	view

	// Next is the address of the gifts.
	Next string
}

func (s *Site) greetingView(link *linksv1.GetClaimPageResponse) greetingView {
	return greetingView{view: s.linkView(link), Next: stepQuery(stepChoose)}
}

// card is a gift in the list.
type card struct {
	ID          string
	Name        string
	Description string
	Picture     picture
	Gone        bool
	// Href is the page of the gift.
	Href string
}

// listView is the page that lists the gifts.
type listView struct {
	view

	Cards []card
	// Problem explains why the player has to choose again.
	Problem string
	// Resume is where a player goes on who has chosen before; empty: there is nothing to go on with.
	Resume string
	// AllGone means that no gift is available.
	AllGone bool
}

func (s *Site) listView(v *visit) listView {
	p := listView{view: s.linkView(v.link), AllGone: true}
	chosen := v.draft.GetGift().GetProductId()
	for _, g := range v.link.GetGifts() {
		p.Cards = append(p.Cards, s.cardOf(g))
		p.AllGone = p.AllGone && g.GetOutOfStock()
	}
	switch step := nextStep(v.link, v.draft); {
	case chosen != "" && step == stepChoose:
		p.Problem = p.T("problem.unavailable")
		for _, g := range v.link.GetGifts() {
			if g.GetProductId() == chosen && (g.GetOutOfStock() || v.draft.GetAnswer().GetCode() == string(problem.OutOfStock)) {
				p.Problem = p.T("problem.gone", "gift", g.GetName())
			}
		}
	case v.draft.GetAnswer().GetCode() == string(problem.ProductNotAvailable):
		p.Problem = p.T("problem.unavailable")
	case v.r.URL.Query().Has(queryLost):
		p.Problem = p.T("problem.lost")
	case chosen != "":
		p.Resume = stepQuery(stepReview)
	}
	if p.Problem != "" || p.Resume != "" || v.r.URL.Query().Get(fieldStep) != "" {
		p.Message = "" // The player has already seen it.
	}
	p.Failed = p.Problem != ""
	return p
}

func (s *Site) cardOf(g *linksv1.ClaimGift) card {
	return card{
		ID: g.GetProductId(), Name: g.GetName(), Description: g.GetDescription(),
		Picture: s.pictureOf(g.GetImages()), Gone: g.GetOutOfStock(), Href: stepQuery(stepGift, fieldGift, g.GetProductId()),
	}
}
