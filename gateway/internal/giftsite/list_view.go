package giftsite

import (
	"slices"
	"strings"

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
	// Categories are the codes of its categories, Hidden means that another one is chosen.
	Categories string
	Hidden     bool
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
	// Filters are the categories; empty: there are few gifts.
	Filters []filter
}

// filter is a link that shows the gifts of a category.
type filter struct {
	// Code is empty for all gifts.
	Code, Name, Href string
	Current          bool
}

const (
	queryCategory = "category"
	// manyGifts is from how many gifts on they can be filtered.
	manyGifts = 13
)

// filter hides the gifts of other categories. They are on the page, so that a script can show them.
func (p *listView) filter(link *linksv1.GetClaimPageResponse, chosen string) {
	if len(p.Cards) < manyGifts || len(link.GetCategories()) < 2 {
		return
	}
	p.Filters = []filter{{Name: p.T("filter.all"), Href: stepQuery(stepChoose)}}
	for _, c := range link.GetCategories() {
		p.Filters = append(p.Filters,
			filter{Code: c.GetCode(), Name: c.GetName(), Href: stepQuery(stepChoose, queryCategory, c.GetCode())})
	}
	current := max(0, slices.IndexFunc(p.Filters, func(f filter) bool { return f.Code == chosen }))
	p.Filters[current].Current = true
	for i, g := range link.GetGifts() {
		p.Cards[i].Hidden = current > 0 && !slices.Contains(g.GetCategories(), chosen)
	}
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
	case v.isLost():
		p.Problem = p.T("problem.lost")
	case chosen != "":
		p.Resume = stepQuery(stepReview)
	}
	if p.Problem != "" || p.Resume != "" || v.r.URL.Query().Get(fieldStep) != "" {
		p.begun()
		p.setTitle(p.T("filter.all"))
	}
	p.Failed = p.Problem != ""
	p.filter(v.link, v.r.URL.Query().Get(queryCategory))
	if len(p.Cards) > 0 {
		p.seenFirst(&p.Cards[0].Picture)
	}
	return p
}

func (s *Site) cardOf(g *linksv1.ClaimGift) card {
	return card{
		ID: g.GetProductId(), Name: g.GetName(), Description: g.GetDescription(),
		Picture: s.pictureOf(g.GetImages()), Gone: g.GetOutOfStock(), Categories: strings.Join(g.GetCategories(), " "),
		Href: stepQuery(stepGift, fieldGift, g.GetProductId()),
	}
}
