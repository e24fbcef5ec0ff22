package rules

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
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

// ClaimPage returns the page of the link. selection is nil unless the link is open or waits for approval. If the selection is
// closed, the player sees an ended link. pictureIDs are those of the brand's pictures that are public.
func ClaimPage(
	l *Link, settings *tenantsv1.GetTenantSettingsResponse, selection *catalogv1.ListSelectionGiftsResponse, pictureIDs []string,
) *linksv1.GetClaimPageResponse {
	page := &linksv1.GetClaimPageResponse{
		State: ClaimState(l.Record.GetStatus()), Locale: l.Locale, Brand: claimBrand(settings, l.Record.GetBrandId()),
	}
	page.Brand.Site = withKnownPictures(page.GetBrand().GetSite(), pictureIDs)
	if selection != nil && !selection.GetOpen() {
		page.State = linksv1.ClaimState_CLAIM_STATE_EXPIRED
	}
	if page.GetState() == linksv1.ClaimState_CLAIM_STATE_EXPIRED {
		return page // The page of an ended link does not show the recipient.
	}
	if l.Details != nil {
		page.Label = l.Details.Label
		page.Message = fields.Optional(&l.Details.Message)
	}
	if selection != nil {
		page.Greeting, page.Brand.Hero = selection.Greeting, claimImages(selection.GetHero())
	}
	if page.GetState() == linksv1.ClaimState_CLAIM_STATE_OPEN {
		for _, c := range selection.GetCategories() {
			page.Categories = append(page.Categories, &linksv1.ClaimCategory{Code: c.GetCode(), Name: c.GetName()})
		}
		for _, g := range selection.GetGifts() {
			page.Gifts = append(page.Gifts, claimGift(g))
		}
	}
	return page
}

// PreviewPage returns the page of an open link without a player, with the site as its brand's.
func PreviewPage(
	settings *tenantsv1.GetTenantSettingsResponse, brandID, locale string, site *tenantsv1.GiftSite,
	selection *catalogv1.ListSelectionGiftsResponse,
) *linksv1.GetClaimPageResponse {
	link := &Link{Locale: locale, Record: &linksv1.PersonalLink{Status: Active, BrandId: brandID}}
	page := ClaimPage(link, settings, selection, nil)
	page.Brand.Site = withKnownPictures(site, selection.GetPictureIds())
	return page
}

func claimBrand(settings *tenantsv1.GetTenantSettingsResponse, id string) *linksv1.ClaimBrand {
	for _, b := range settings.GetBrands() {
		if b.GetId() == id {
			return &linksv1.ClaimBrand{
				Name: b.GetName(), PrimaryColour: b.PrimaryColour, LogoUrl: b.LogoUrl, Site: GiftSite(settings.GetGiftSites(), id),
			}
		}
	}
	return &linksv1.ClaimBrand{}
}

// GiftSite returns the links and the theme of a brand, nil if they were never set.
func GiftSite(sites []*tenantsv1.BrandGiftSite, brandID string) *tenantsv1.GiftSite {
	for _, s := range sites {
		if s.GetBrandId() == brandID {
			return s.GetSite()
		}
	}
	return nil
}

func claimImages(images []*catalogv1.Image) []*linksv1.ClaimImage {
	var out []*linksv1.ClaimImage
	for _, image := range images {
		out = append(out, &linksv1.ClaimImage{Url: image.GetUrl(), Width: image.Width})
	}
	return out
}

func claimGift(g *catalogv1.SelectionGift) *linksv1.ClaimGift {
	images := claimImages(g.GetImages())
	for _, image := range images {
		for _, shown := range g.GetImageVariations() {
			if path.Base(image.GetUrl()) == shown.GetFileId() {
				image.Variations = shown.GetVariations()
			}
		}
	}
	out := &linksv1.ClaimGift{
		ProductId: g.GetProductId(), Name: g.GetName(), Description: g.GetDescription(), Countries: g.GetCountries(),
		Images: images, Categories: g.GetCategories(), Details: g.GetDetails(),
		TakesInitials: g.GetCustomizationAvailable(),
	}
	for _, v := range g.GetVariations() {
		out.Variations = append(out.Variations, claimVariation(v, g.GetVariationTranslations()))
	}
	for _, s := range g.GetSkus() {
		if available(s) {
			out.Choices = append(out.Choices, &linksv1.ClaimChoice{Variations: asOffered(g, s.GetVariations())})
		}
	}
	out.OutOfStock = len(g.GetSkus()) > 0 && len(out.GetChoices()) == 0
	return out
}

// asOffered writes a combination as the gift does. A SKU may have another form of the same text.
func asOffered(g *catalogv1.SelectionGift, combination map[string]string) map[string]string {
	out, chosen := map[string]string{}, fields.NFCVariations(combination)
	for _, v := range g.GetVariations() {
		if value, ok := fields.OfferedVariation(v.GetDimension(), v.GetValues(), chosen); ok {
			out[v.GetDimension()] = value
		}
	}
	return out
}

// claimVariation shows a dimension in the words of the link's locale where they are known.
func claimVariation(v *catalogv1.Variation, translations []*catalogv1.VariationTranslation) *linksv1.ClaimVariation {
	out := &linksv1.ClaimVariation{Dimension: v.GetDimension(), Values: v.GetValues(), Name: v.GetDimension()}
	names := map[string]string{}
	for _, t := range translations {
		if t.GetDimension() == v.GetDimension() {
			out.Name, names = t.GetName(), t.GetValues()
		}
	}
	for _, value := range v.GetValues() {
		out.ValueNames = append(out.ValueNames, cmp.Or(names[value], value))
	}
	return out
}

// Lengths in Unicode code points. Those of a recipient are those of an order, which the claim becomes.
var (
	maxName       = fields.MaxLength(&ordersv1.OrderRecipient{}, "name")
	maxPhone      = fields.MaxLength(&ordersv1.OrderRecipient{}, "phone")
	maxOrderEmail = fields.MaxLength(&ordersv1.OrderRecipient{}, "email")
	maxStreet     = fields.MaxLength(&ordersv1.OrderAddress{}, "street")
	maxCity       = fields.MaxLength(&ordersv1.OrderAddress{}, "city")
	maxPostalCode = fields.MaxLength(&ordersv1.OrderAddress{}, "postalCode")
	maxInitials   = fields.MaxLength(&linksv1.ClaimLinkRequest{}, "initials")
	maxComment    = fields.MaxLength(&ordersv1.PlaceOrderRequest{}, "courierComment")
)

const minFormNonce, maxFormNonce = 22, 64

// CheckClaim finds the errors of a claim that do not depend on the gift, so that a player sees them all together.
func CheckClaim(req *linksv1.ClaimLinkRequest, errs *fields.Errors) {
	req.ProductId = errs.RequiredUUID("productId", req.GetProductId())
	checkRecipient(req.GetRecipient(), "recipient.", errs)
	checkInitials(req.GetInitials(), errs)
	if req.GetFormNonce() != "" {
		CheckNonce(req.GetFormNonce(), errs)
	}
}

// checkInitials checks what is put on a gift, in any script.
func checkInitials(text string, errs *fields.Errors) {
	errs.Line("initials", text, maxInitials)
	if strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune(" &.-'", r)
	}) {
		errs.Add("initials", problem.FieldInvalid, "must have only letters, digits, spaces and & . - '")
	}
}

// checkRecipient checks a recipient. addressPath is the path of the address, with a dot.
func checkRecipient(r *linksv1.ClaimRecipient, addressPath string, errs *fields.Errors) {
	const at = "recipient."
	errs.Required(at+"name", r.GetName(), maxName)
	errs.RequiredText(at+"phone", r.GetPhone(), maxPhone)
	if _, ok := phone.Parse(r.GetPhone()); !ok {
		errs.Add(at+"phone", problem.FieldInvalid, "must be an international number: +, country code, digits")
	}
	errs.Email(at+"email", r.GetEmail(), maxOrderEmail)
	errs.Required(addressPath+"street", r.GetStreet(), maxStreet)
	errs.Required(addressPath+"city", r.GetCity(), maxCity)
	errs.Line(addressPath+"postalCode", r.GetPostalCode(), maxPostalCode)
	errs.Text("courierComment", r.GetCourierComment(), maxComment)
	switch {
	case fields.Blank(r.GetCountry()):
		errs.Add(addressPath+"country", problem.FieldRequired, "is required")
	case !fields.IsCountry(r.GetCountry()):
		errs.Add(addressPath+"country", problem.FieldInvalid, "must be an ISO 3166-1 alpha-2 code in upper case")
	case fields.PostalCodeRequired(r.GetCountry()) && fields.Blank(r.GetPostalCode()):
		errs.Add(addressPath+"postalCode", problem.FieldRequired, "is required in this country")
	}
}

// FindGift returns the gift that the player chose, or nil if the selection does not have it now.
func FindGift(gifts []*catalogv1.SelectionGift, productID string) *catalogv1.SelectionGift {
	i := slices.IndexFunc(gifts, func(g *catalogv1.SelectionGift) bool { return g.GetProductId() == productID })
	if i < 0 {
		return nil
	}
	return gifts[i]
}

// CheckTakesInitials refuses initials for a gift that does not take them.
func CheckTakesInitials(gift *catalogv1.SelectionGift, initials string) error {
	if gift.GetCustomizationAvailable() || fields.Blank(initials) {
		return nil
	}
	return problem.Invalid(problem.Violation{Field: "initials", Code: problem.FieldInvalid, Message: "cannot be put on this gift"})
}

// CheckGift refuses a choice that is not available. The gift may have changed since the page was shown.
func CheckGift(gift *catalogv1.SelectionGift, choice map[string]string, toCountry string) error {
	switch {
	case gift == nil:
		return problem.New(problem.ProductNotAvailable, "The link does not offer this gift any more.")
	case !slices.Contains(gift.GetCountries(), toCountry):
		return problem.New(problem.NotDeliverableToCountry, "The gift cannot be sent to this country.")
	case !choosable(gift, choice):
		return problem.New(problem.InvalidVariations, "Choose one value for each of the gift's variations.")
	case !InStock(gift, choice):
		return problem.New(problem.OutOfStock, "The gift is out of stock with these variations.")
	}
	return nil
}

func choosable(gift *catalogv1.SelectionGift, choice map[string]string) bool {
	if len(choice) != len(gift.GetVariations()) {
		return false
	}
	chosen := fields.NFCVariations(choice)
	for _, v := range gift.GetVariations() {
		if _, ok := fields.OfferedVariation(v.GetDimension(), v.GetValues(), chosen); !ok {
			return false
		}
	}
	return len(gift.GetSkus()) == 0 || sku(gift, choice) != nil
}

func sku(gift *catalogv1.SelectionGift, choice map[string]string) *catalogv1.SelectionSku {
	chosen := fields.NFCVariations(choice)
	for _, s := range gift.GetSkus() {
		if maps.Equal(fields.NFCVariations(s.GetVariations()), chosen) {
			return s
		}
	}
	return nil
}

// InStock reports whether a unit of the combination is left, or the gift is unlimited.
func InStock(gift *catalogv1.SelectionGift, choice map[string]string) bool {
	return len(gift.GetSkus()) == 0 || available(sku(gift, choice))
}

func available(s *catalogv1.SelectionSku) bool {
	return s != nil && (s.StockRemaining == nil || s.GetStockRemaining() > 0)
}
