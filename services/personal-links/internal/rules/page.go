package rules

import (
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ClaimState is the state of a link that the player sees. A link with a claim in flight is still open,
// because the outcome is not known.
func ClaimState(status linksv1.PersonalLinkStatus) linksv1.ClaimState {
	switch status {
	case Requested:
		return linksv1.ClaimState_CLAIM_STATE_WAITING
	case Active:
		return linksv1.ClaimState_CLAIM_STATE_OPEN
	case Claimed:
		return linksv1.ClaimState_CLAIM_STATE_CLAIMED
	default:
		return linksv1.ClaimState_CLAIM_STATE_EXPIRED
	}
}

// ClaimPage shows the link. selection is nil for a link that is neither open nor waiting. For the
// player, a closed selection ends the link.
func ClaimPage(
	l *Link, brands []*tenantsv1.Brand, selection *catalogv1.ListSelectionGiftsResponse,
) *linksv1.GetClaimPageResponse {
	page := &linksv1.GetClaimPageResponse{
		State: ClaimState(l.Record.GetStatus()), Locale: l.Locale, Brand: claimBrand(brands, l.Record.GetBrandId()),
	}
	if selection != nil && !selection.GetOpen() {
		page.State = linksv1.ClaimState_CLAIM_STATE_EXPIRED
	}
	if page.GetState() == linksv1.ClaimState_CLAIM_STATE_EXPIRED {
		return page // It no longer shows for whom the gift was.
	}
	if l.Details != nil {
		page.Label = l.Details.Label
		page.Message = fields.Optional(&l.Details.Message)
	}
	if page.GetState() == linksv1.ClaimState_CLAIM_STATE_OPEN {
		for _, g := range selection.GetGifts() {
			page.Gifts = append(page.Gifts, claimGift(g))
		}
	}
	return page
}

func claimBrand(brands []*tenantsv1.Brand, id string) *linksv1.ClaimBrand {
	for _, b := range brands {
		if b.GetId() == id {
			return &linksv1.ClaimBrand{Name: b.GetName(), PrimaryColour: b.PrimaryColour, LogoUrl: b.LogoUrl}
		}
	}
	return &linksv1.ClaimBrand{}
}

func claimGift(g *catalogv1.SelectionGift) *linksv1.ClaimGift {
	out := &linksv1.ClaimGift{
		ProductId: g.GetProductId(), Name: g.GetName(), Description: g.GetDescription(), Countries: g.GetCountries(),
	}
	for _, image := range g.GetImages() {
		out.Images = append(out.Images, &linksv1.ClaimImage{Url: image.GetUrl(), Width: image.Width})
	}
	for _, v := range g.GetVariations() {
		out.Variations = append(out.Variations, &linksv1.ClaimVariation{Dimension: v.GetDimension(), Values: v.GetValues()})
	}
	for _, s := range g.GetSkus() {
		if available(s) {
			out.Choices = append(out.Choices, &linksv1.ClaimChoice{Variations: s.GetVariations()})
		}
	}
	out.OutOfStock = len(g.GetSkus()) > 0 && len(out.GetChoices()) == 0
	return out
}
