package giftsite

import (
	"fmt"
	"html/template"
	"slices"
	"strconv"
	"strings"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
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
	// Resume is where a player goes on who has chosen before, and Chosen the gift; empty: there is nothing to go on with.
	Resume, Chosen string
	// Letter is where the greeting can be read again; empty: there is none, or it is on this page.
	Letter string
	// Heading names the chosen category and how many gifts it has, or asks to choose.
	Heading string
	// AllGone means that no gift is available.
	AllGone bool
	// Filters are the categories; empty: there are few gifts.
	Filters []filter
}

// filter is a link that shows the gifts of a category.
type filter struct {
	// Code is empty for all gifts. Heading is that of the page while they are shown.
	Code, Name, Href, Heading string
	Current                   bool
}

const (
	queryCategory = "category"
	// manyGifts is the number of gifts from which on they can be filtered.
	manyGifts = 13
)

// filter hides the gifts of other categories. They are on the page, so that a script can show them. Each card has the index of its
// gift.
func (p *listView) filter(gifts []*linksv1.ClaimGift, categories []*linksv1.ClaimCategory, chosen string) {
	if len(p.Cards) < manyGifts || len(categories) < 2 {
		return
	}
	p.Filters = []filter{{Name: p.T("filter.all"), Href: stepQuery(stepChoose), Heading: p.Heading}}
	for _, c := range categories {
		count := 0
		for _, g := range gifts {
			if slices.Contains(g.GetCategories(), c.GetCode()) {
				count++
			}
		}
		p.Filters = append(p.Filters, filter{
			Code: c.GetCode(), Name: c.GetName(), Href: stepQuery(stepChoose, queryCategory, c.GetCode()),
			Heading: p.N("filter.chosen", count, "category", c.GetName()),
		})
	}
	current := max(0, slices.IndexFunc(p.Filters, func(f filter) bool { return f.Code == chosen }))
	p.Filters[current].Current = true
	for i, g := range gifts {
		p.Cards[i].Hidden = current > 0 && !slices.Contains(g.GetCategories(), chosen)
	}
	if p.Heading = p.Filters[current].Heading; current > 0 {
		p.setTitle(p.Heading)
	}
}

func (s *Site) listView(v *visit) listView {
	p := listView{view: s.linkView(v.link), AllGone: true}
	chosen := v.draft.GetGift().GetProductId()
	gifts := availableFirst(v.link.GetGifts())
	for _, g := range gifts {
		p.Cards = append(p.Cards, s.cardOf(g, pickedOf(v.draft, g)))
		p.AllGone = p.AllGone && g.GetOutOfStock()
	}
	p.Problem = p.unavailable(v)
	switch {
	case p.Problem != "":
	case v.draftLost():
		p.Problem = p.T("problem.lost")
	case chosen != "":
		p.Resume, p.Chosen = stepQuery(stepReview), giftOf(v.link, chosen).GetName()
	}
	if p.Problem != "" || p.Resume != "" || v.r.URL.Query().Get(fieldStep) != "" {
		if p.Message != "" || p.Greeting != "" {
			p.Letter = stepQuery(stepLetter) + "#main" // Open.
		}
		p.hideSeen()
		p.setTitle(p.T("filter.all"))
	}
	p.Failed = p.Problem != ""
	if p.Heading = p.T("choose.lead"); p.AllGone {
		p.Heading = p.T("choose.nothing")
	}
	p.filter(gifts, v.link.GetCategories(), v.r.URL.Query().Get(queryCategory))
	for i := range p.Cards[:leading(len(p.Cards))] {
		p.Cards[i].Picture.Sizes = sizesDetail
	}
	if len(p.Cards) > 0 {
		p.markFirst(&p.Cards[0].Picture)
	}
	return p
}

// availableFirst returns the gifts in their order, but those that are out of stock last: the first cards are the largest.
func availableFirst(gifts []*linksv1.ClaimGift) []*linksv1.ClaimGift {
	ordered := slices.Clone(gifts)
	slices.SortStableFunc(ordered, func(a, b *linksv1.ClaimGift) int {
		switch {
		case a.GetOutOfStock() == b.GetOutOfStock():
			return 0
		case a.GetOutOfStock():
			return 1
		}
		return -1
	})
	return ordered
}

// unavailable says that the chosen gift is not available any more; empty: it is, or none was chosen.
func (t *texts) unavailable(v *visit) string {
	chosen, code := v.draft.GetGift().GetProductId(), problem.Code(v.draft.GetAnswer().GetCode())
	if code != problem.ProductNotAvailable && (chosen == "" || nextStep(v.link, v.draft) != stepChoose) {
		return ""
	}
	for _, g := range v.link.GetGifts() {
		if g.GetProductId() == chosen && (g.GetOutOfStock() || code == problem.OutOfStock) {
			return t.T("problem.gone", "gift", g.GetName())
		}
	}
	return t.T("problem.unavailable")
}

// leading is how many cards are in rows of two. All others follow in rows of three. So no row of a wide page has a single card.
func leading(cards int) int {
	switch cards % 3 {
	case 1:
		return min(4, cards)
	case 2:
		return 2
	default:
		return 0
	}
}

// pickedOf are the values that are picked of the gift; nil: it is not the chosen one.
func pickedOf(draft *linksv1.ClaimDraft, g *linksv1.ClaimGift) map[string]string {
	if draft.GetGift().GetProductId() != g.GetProductId() {
		return nil
	}
	return draft.GetGift().GetVariations()
}

func (s *Site) cardOf(g *linksv1.ClaimGift, picked map[string]string) card {
	return card{
		ID: g.GetProductId(), Name: g.GetName(), Description: g.GetDescription(),
		Picture: s.pictureOf(g.GetImages(), picked), Gone: g.GetOutOfStock(), Categories: strings.Join(g.GetCategories(), " "),
		Href: stepQuery(stepGift, fieldGift, g.GetProductId()),
	}
}

// giftView is the page of one gift, where it is chosen with its variations.
type giftView struct {
	view
	choices

	Gift card
	// Pictures are all pictures of the gift, in its order.
	Pictures []picture
	// Story and Facts are what else is said about it.
	Story string
	Facts []line
	// Destinations are the countries that the gift can be sent to, if they are few.
	Destinations []line
	// Initials is the input of what is put on the gift; nil: it takes none.
	Initials *field
	// OnlyGift means that the link has no other gift. The page then also has the greeting.
	OnlyGift bool
	// Problem is why the player has to choose again, if it belongs to no choice.
	Problem string
	// Errors are all errors of the page, in its order.
	Errors []formError
	// AllGifts is the page of all gifts.
	AllGifts string
}

// ThumbAlt is what the i-th thumbnail shows. Pictures of which nothing else is known have a number.
func (p giftView) ThumbAlt(i int) string {
	if p.Pictures[i].Caption != "" {
		return p.Pictures[i].Alt
	}
	return p.Pictures[i].Alt + ", " + p.T("gift.picture", "n", strconv.Itoa(i+1), "count", strconv.Itoa(len(p.Pictures)))
}

// ThemeStyle also puts the large pictures first that show what is picked, as soon as it is picked, and of them the one that shows
// most of it. Thumbnails stay where they are. The list of combinations counts more than all groups. Because of :where, the later of
// two rules for a picture holds.
func (p giftView) ThemeStyle() template.CSS {
	style := string(p.view.ThemeStyle())
	for i, picture := range p.Pictures {
		for order, picked := range p.whenPicked(picture.shows) {
			style += fmt.Sprintf(".columns:where(%s) #picture-%d{order:%d}", picked, i, -len(picture.shows)-order*len(p.Groups))
		}
	}
	return template.CSS(style) //nolint:gosec // Only numbers vary.
}

func (s *Site) giftView(v *visit, gift *linksv1.ClaimGift) giftView {
	p := giftView{
		view: s.linkView(v.link), OnlyGift: len(v.link.GetGifts()) == 1,
		AllGifts: stepQuery(stepChoose), Story: gift.GetDetails().GetStory(),
	}
	p.Facts, p.Destinations = p.factLines(gift.GetDetails()), p.destinations(gift)
	picked := pickedOf(v.draft, gift)
	p.choices = choicesOf(p.texts, gift, picked)
	p.Gift, p.Pictures = s.cardOf(gift, picked), s.picturesOf(gift.GetImages(), nil)
	if !p.OnlyGift || v.r.URL.Query().Get(fieldStep) != "" {
		p.hideSeen()
		p.setTitle(gift.GetName())
	}
	first := 0
	for i := range p.Pictures {
		p.Pictures[i].Sizes = sizesDetail
		p.describe(&p.Pictures[i], gift, nil)
		if p.Pictures[i].fit(p.checked()) > p.Pictures[first].fit(p.checked()) {
			first = i
		}
	}
	if len(p.Pictures) > 0 {
		p.markFirst(&p.Pictures[first])
	}
	if p.OnlyGift {
		p.Problem = p.unavailable(v)
	}
	if v.draftLost() {
		p.Problem = p.T("problem.lost")
	}
	p.Failed = p.Problem != ""
	chosen := v.draft.GetGift().GetProductId() == gift.GetProductId()
	if code := problem.Code(v.draft.GetAnswer().GetCode()); chosen &&
		(code == problem.InvalidVariations || code == problem.OutOfStock) {
		p.addErrors(picked)
	}
	if chosen {
		p.addInitials(gift, v.draft.GetGift().GetInitials(), v.draft.GetAnswer())
	} else {
		p.addInitials(gift, "", nil)
	}
	return p
}

// factLines are the short texts of the details.
func (t *texts) factLines(d *catalogv1.GiftDetails) (lines []line) {
	for _, fact := range []line{{"gift.maker", d.GetMaker()}, {"gift.material", d.GetMaterial()}, {"gift.size", d.GetSize()}} {
		if fact.Text != "" {
			lines = append(lines, line{Label: t.T(fact.Label), Text: fact.Text})
		}
	}
	return lines
}

func (t *texts) destinations(gift *linksv1.ClaimGift) []line {
	const few = 6
	if len(gift.GetCountries()) > few {
		return nil
	}
	var names []string
	for _, c := range t.allCountries() {
		if slices.Contains(gift.GetCountries(), c.Code) {
			names = append(names, c.Name)
		}
	}
	return []line{{Label: t.T("gift.countries"), Text: strings.Join(names, ", ")}}
}

// addErrors adds the errors of a choice that cannot be made.
func (p *giftView) addErrors(picked map[string]string) {
	for i := range p.Groups {
		g := &p.Groups[i]
		switch {
		case g.isGone(picked):
			g.Error = p.T("error.choice.gone")
		case !g.isChosen():
			g.Error = p.T("error.choice.required")
		default:
			continue
		}
		p.Errors = append(p.Errors, g.formError())
	}
	if last := len(p.Groups) - 1; last >= 0 && len(p.Errors) == 0 { // Each value alone is available, or another one was preselected.
		p.Groups[last].Error = p.T("error.choice.gone")
		p.Errors = []formError{p.Groups[last].formError()}
	}
	if p.Whole != nil && len(p.Errors) > 0 { // The groups or the list are shown, both in this element.
		p.Whole.Error = p.Errors[0].Text
		for i := range p.Errors {
			p.Errors[i].Href = "#picks"
		}
	}
	p.Failed = len(p.Errors) > 0
}

// reviewView is the page that shows everything that will be sent. Only its form claims the gift.
type reviewView struct {
	view

	Gift card
	// Variations are the chosen values by dimension.
	Variations []line
	// Address are the lines of the envelope, Contact is what is known of the recipient besides.
	Address []string
	Contact []line
	// Notes are questions about what is unusual in the address.
	Notes []string
	// Arrival is when the gift usually arrives; empty: the brand does not say it.
	Arrival string
	// GiftHref and AddressHref are the pages where they are changed.
	GiftHref, AddressHref string
	// Version is sent back, so that nothing else than what the page shows is claimed.
	Version int64
	// Problem is why the gift was not claimed.
	Problem string
}

func (s *Site) reviewView(v *visit) reviewView {
	gift := giftOf(v.link, v.draft.GetGift().GetProductId())
	p := reviewView{
		view: s.linkView(v.link), Gift: s.cardOf(gift, v.draft.GetGift().GetVariations()), Version: v.draft.GetVersion(),
		GiftHref: stepQuery(stepGift, fieldGift, gift.GetProductId()), AddressHref: stepQuery(stepAddress),
	}
	p.hideSeen()
	p.describe(&p.Gift.Picture, gift, v.draft.GetGift().GetVariations())
	p.setTitle(p.T("review.heading"))
	p.Variations = p.withInitials(p.variationLines(gift, v.draft.GetGift().GetVariations()), v.draft.GetGift().GetInitials())
	p.Address, p.Contact = p.envelopeLines(v.draft.GetRecipient()), p.contactLines(v.draft.GetRecipient())
	country := v.draft.GetRecipient().GetCountry()
	entered := enteredIn(v.draft.GetRecipient())
	for _, in := range addressForm(country, p.Lang) {
		if note := p.note(in, country, entered[in.ID]); note != "" {
			p.Notes = append(p.Notes, note)
		}
	}
	p.Arrival = p.arrival(v.link.GetBrand().GetSite(), country)
	switch problem.Code(v.draft.GetAnswer().GetCode()) {
	case "":
		return p
	case problem.IdempotencyInProgress:
		p.Problem = p.T("problem.busy")
	case problem.VersionConflict:
		p.Problem = p.T("problem.changed")
	default:
		p.Problem = p.T("problem.again")
	}
	p.Failed = true
	return p
}

// describe says what a picture of the gift shows. If the picked values are others than those that it shows, it has a caption.
func (t *texts) describe(p *picture, gift *linksv1.ClaimGift, picked map[string]string) {
	var values []string
	for _, l := range t.variationLines(gift, p.shows) {
		values = append(values, l.Text)
	}
	p.Alt = strings.Join(append([]string{gift.GetName()}, values...), ", ")
	if len(values) > 0 && !matches(p.shows, picked) {
		p.Caption = t.T("gift.shown", "values", strings.Join(values, ", "))
	}
}

// variationLines are the chosen values of a gift in the words of its locale, in the order of its dimensions.
func (t *texts) variationLines(gift *linksv1.ClaimGift, picked map[string]string) (lines []line) {
	for _, d := range gift.GetVariations() {
		if value, ok := picked[d.GetDimension()]; ok {
			lines = append(lines, line{Label: t.dimension(d), Text: valueName(d, value)})
		}
	}
	return lines
}
