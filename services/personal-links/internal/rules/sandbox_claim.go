package rules

import (
	"maps"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// SandboxClaim reads a claim by an API key. What the key leaves open is empty in the result: CompleteClaim fills it in.
func SandboxClaim(req *linksv1.ClaimSandboxPersonalLinkRequest, errs *fields.Errors) *linksv1.ClaimLinkRequest {
	claim := &linksv1.ClaimLinkRequest{Variations: req.GetVariations()}
	if id := errs.OptionalUUID("productId", fields.Optional(req.ProductId)); id != nil {
		claim.ProductId = *id
	} else if len(req.GetVariations()) > 0 || errs.Touches("variations") {
		errs.Add("productId", problem.FieldRequired, "is required with variations")
	}
	if r := req.GetRecipient(); r != nil {
		claim.Recipient = &linksv1.ClaimRecipient{
			Name: r.GetName(), Phone: r.GetPhone(), Email: r.Email, Street: r.GetAddress().GetStreet(), City: r.GetAddress().GetCity(),
			PostalCode: fields.Optional(new(r.GetAddress().GetPostalCode())), Country: r.GetAddress().GetCountry(),
		}
		if r.GetAddress() == nil {
			errs.Add("recipient.address", problem.FieldRequired, "is required")
		}
		checkRecipient(claim.GetRecipient(), "recipient.address.", errs)
	}
	return claim
}

// CompleteClaim chooses what the claim leaves open: the first gift that can be chosen now, its first combination in stock, and a
// made-up recipient in the first country to which it can be sent. It refuses a choice that is not available, as for a player.
func CompleteClaim(claim *linksv1.ClaimLinkRequest, gifts []*catalogv1.SelectionGift) error {
	if claim.GetProductId() != "" {
		return completeGift(claim, FindGift(gifts, claim.GetProductId()))
	}
	var refused error
	for _, gift := range gifts {
		// The made-up recipient of a gift that is not chosen is not that of the next one.
		choice := &linksv1.ClaimLinkRequest{Recipient: claim.GetRecipient()}
		err := completeGift(choice, gift)
		if err == nil {
			claim.ProductId, claim.Variations, claim.Recipient = gift.GetProductId(), choice.GetVariations(), choice.GetRecipient()
			return nil
		}
		if refused == nil || problem.Is(err, problem.OutOfStock) {
			refused = err
		}
	}
	if refused == nil {
		return problem.New(problem.ProductNotAvailable, "The link offers no gift now.")
	}
	return refused
}

func completeGift(claim *linksv1.ClaimLinkRequest, gift *catalogv1.SelectionGift) error {
	if len(claim.GetVariations()) == 0 {
		claim.Variations = firstChoice(gift)
	}
	if claim.GetRecipient() == nil && len(gift.GetCountries()) > 0 {
		claim.Recipient = madeUpRecipient(gift.GetCountries()[0])
	}
	return CheckGift(gift, claim.GetVariations(), claim.GetRecipient().GetCountry())
}

// firstChoice is the first combination in stock, or else the first one.
func firstChoice(gift *catalogv1.SelectionGift) map[string]string {
	for _, s := range gift.GetSkus() {
		if available(s) {
			return maps.Clone(s.GetVariations())
		}
	}
	if len(gift.GetSkus()) > 0 {
		return maps.Clone(gift.GetSkus()[0].GetVariations())
	}
	first := map[string]string{}
	for _, v := range gift.GetVariations() {
		for _, value := range v.GetValues()[:min(1, len(v.GetValues()))] {
			first[v.GetDimension()] = value
		}
	}
	return first
}

// madeUpRecipient is nobody: the telephone number is of those that are reserved for fiction.
func madeUpRecipient(country string) *linksv1.ClaimRecipient {
	return &linksv1.ClaimRecipient{
		Name: "Sandbox Recipient", Phone: "+1 202 555 0100",
		Street: "1 Sandbox Street", City: "Sandbox City", PostalCode: new("00000"), Country: country,
	}
}
