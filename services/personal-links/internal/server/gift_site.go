package server

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/rpc"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// ClaimLink places the order of the player's choice and marks the link as claimed.
func (s *Server) ClaimLink(ctx context.Context, req *linksv1.ClaimLinkRequest) (*linksv1.ClaimLinkResponse, error) {
	link, err := s.byToken(ctx, req.GetToken())
	if err != nil {
		return nil, err
	}
	if link.Record.GetStatus() != rules.Active {
		if err := s.Tenants.Here(ctx, link.TenantID); err != nil {
			return nil, err
		}
		return s.outcome(ctx, link, req)
	}
	if err := s.addDraftInitials(ctx, req); err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckClaim(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	settings, err := s.Tenants.Fresh(ctx, link.TenantID)
	if err != nil {
		return nil, err
	}
	selection, err := s.listGifts(ctx, link, settings)
	if err != nil {
		return nil, err
	}
	if !selection.GetOpen() {
		return s.expired(ctx, link, req)
	}
	gift := rules.FindGift(selection.GetGifts(), req.GetProductId())
	if refused := rules.CheckGift(gift, req.GetVariations(), req.GetRecipient().GetCountry()); refused != nil {
		return s.refuse(ctx, link, req, refused)
	}
	if refused := rules.CheckTakesInitials(gift, req.GetInitials()); refused != nil {
		return s.refuse(ctx, link, req, refused)
	}
	return s.claim(ctx, link, req)
}

// addDraftInitials adds the initials that the player has reviewed to a claim without them. Gateways of release 1.0.0 do not know
// them. Later gateways do not send empty ones, because personal-links of 1.0.0 refuses the field.
func (s *Server) addDraftInitials(ctx context.Context, req *linksv1.ClaimLinkRequest) error {
	if req.Initials != nil || req.GetFormNonce() == "" {
		return nil
	}
	hash, _ := rules.HashToken(req.GetToken())
	draft, err := s.Store.Draft(ctx, hash, rules.HashNonce(req.GetFormNonce()))
	if draft.GetGift().GetProductId() == req.GetProductId() {
		req.Initials = new(draft.GetGift().GetInitials())
	}
	return err
}

// refuse returns the problem of a choice that is not available. But if another claim of the link succeeds, perhaps with the
// last unit, it returns the claimed link.
func (s *Server) refuse(
	ctx context.Context, link *rules.Link, req *linksv1.ClaimLinkRequest, refused error,
) (*linksv1.ClaimLinkResponse, error) {
	link, err := s.Claims.Outcome(ctx, link)
	if err != nil {
		return nil, err
	}
	if link.Record.GetStatus() == rules.Active {
		return nil, refused
	}
	return s.outcome(ctx, link, req)
}

// expired returns that the campaign is closed, unless a claim of the link succeeded before.
func (s *Server) expired(ctx context.Context, link *rules.Link, req *linksv1.ClaimLinkRequest) (*linksv1.ClaimLinkResponse, error) {
	link, err := s.Claims.Outcome(ctx, link)
	if err != nil {
		return nil, err
	}
	if link.Record.GetStatus() == rules.Active {
		return &linksv1.ClaimLinkResponse{State: linksv1.ClaimState_CLAIM_STATE_EXPIRED}, nil
	}
	return s.outcome(ctx, link, req)
}

// outcome returns the state of a link that is no longer open. If an earlier request of the same form has claimed it, as when a
// player clicks twice or the answer was lost, the reference of the order is returned too.
func (s *Server) outcome(ctx context.Context, link *rules.Link, req *linksv1.ClaimLinkRequest) (*linksv1.ClaimLinkResponse, error) {
	resp := &linksv1.ClaimLinkResponse{State: rules.ClaimState(link.Record.GetStatus())}
	nonce := req.GetFormNonce()
	if nonce == "" || !rules.MadeClaim(rules.FormRequest(nonce), link.Record.GetId(), link.Record.GetOrderId()) {
		return resp, nil
	}
	order, err := s.Claims.PlacedOrder(ctx, link)
	if err != nil {
		return nil, err
	}
	if order != nil {
		resp.OrderReference = &order.Reference
	}
	return resp, nil
}

func (s *Server) claim(ctx context.Context, link *rules.Link, req *linksv1.ClaimLinkRequest) (*linksv1.ClaimLinkResponse, error) {
	result, err := s.claimForm(ctx, link, req)
	switch {
	case problem.Is(err, problem.CampaignNotActive):
		return &linksv1.ClaimLinkResponse{State: linksv1.ClaimState_CLAIM_STATE_EXPIRED}, nil
	case err != nil:
		return nil, withPagePaths(err)
	}
	if result.Order == nil {
		return s.outcome(ctx, result.Link, req)
	}
	s.saveRecipient(ctx, req)
	return &linksv1.ClaimLinkResponse{
		State: rules.ClaimState(result.Link.Record.GetStatus()), OrderReference: &result.Order.Reference,
	}, nil
}

// saveTimeout is for one short transaction.
const saveTimeout = 5 * time.Second

// saveRecipient saves where the gift is sent as a draft of the form, so that its browser can show it. The claim has deleted all
// drafts. If the draft cannot be saved, the browser shows the masked recipient of the order. The draft is saved even if the browser
// has disconnected meanwhile.
func (s *Server) saveRecipient(ctx context.Context, req *linksv1.ClaimLinkRequest) {
	nonce := req.GetFormNonce()
	if nonce == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	hash, _ := rules.HashToken(req.GetToken())
	_, _, _ = s.Store.SaveDraft(ctx, hash, rules.HashNonce(nonce),
		func(l *rules.Link, stored *linksv1.ClaimDraft) (*linksv1.ClaimDraft, error) {
			if !l.ClaimedBy(nonce) || stored != nil { // It was erased, or is being corrected.
				return nil, nil //nolint:nilnil // Nothing is saved.
			}
			return &linksv1.ClaimDraft{Recipient: req.GetRecipient()}, nil
		})
}

// claimForm claims the link with an order id that shows which form was sent.
func (s *Server) claimForm(ctx context.Context, link *rules.Link, req *linksv1.ClaimLinkRequest) (claims.Result, error) {
	if req.GetFormNonce() == "" {
		return s.Claims.Claim(ctx, link, orderOf(link, req))
	}
	form := rules.FormRequest(req.GetFormNonce())
	opts := claims.ClaimOptions{OrderID: func() string { return rules.NewClaimID(form, link.Record.GetId()) }}
	return s.Claims.ClaimAs(ctx, opts, link, orderOf(link, req))
}

// orderOf describes the claimed order without its id.
func orderOf(l *rules.Link, req *linksv1.ClaimLinkRequest) *ordersv1.PlaceClaimedOrderRequest {
	r := req.GetRecipient()
	order := &ordersv1.PlaceClaimedOrderRequest{
		TenantId: l.TenantID, PersonalLinkId: l.Record.GetId(), BrandId: l.Record.GetBrandId(), CampaignId: l.Record.CampaignId,
		ExternalRecipientId: l.Record.ExternalRecipientId, ManagerId: l.ManagerID,
		ProductId: req.GetProductId(), Variations: req.GetVariations(), CourierComment: r.CourierComment,
		Recipient: &ordersv1.OrderRecipient{
			Name: r.GetName(), Phone: r.GetPhone(), Email: r.Email,
			Address: &ordersv1.OrderAddress{
				Street: r.GetStreet(), City: r.GetCity(), PostalCode: r.PostalCode, Country: r.GetCountry(),
			},
		},
	}
	if !fields.Blank(req.GetInitials()) {
		order.Customization = &ordersv1.OrderCustomization{Details: req.GetInitials()}
	}
	if l.Details != nil {
		order.Client = &ordersv1.OrderClient{Name: l.Details.Label, Email: fields.Optional(&l.Details.Email)}
		for _, a := range l.Details.Answers {
			order.CustomFields = append(order.CustomFields,
				&ordersv1.CustomFieldAnswer{FieldId: a.FieldID, TextValue: a.Text, Checked: a.Checked})
		}
	}
	return order
}

// withPagePaths translates the field paths of a refusal to those of the page.
func withPagePaths(err error) error {
	p, ok := errors.AsType[*problem.Error](err)
	if !ok || p.Code != problem.InvalidRequest {
		return err
	}
	refusal := *p
	refusal.Violations = nil
	for _, v := range p.Violations {
		v.Field = strings.Replace(v.Field, "recipient.address.", "recipient.", 1)
		if strings.HasPrefix(v.Field, "customization") {
			v.Field = "initials"
		}
		refusal.Violations = append(refusal.Violations, v)
	}
	return &refusal
}

// GetClaimPage returns the page of the link in its current state.
func (s *Server) GetClaimPage(ctx context.Context, req *linksv1.GetClaimPageRequest) (*linksv1.GetClaimPageResponse, error) {
	link, err := s.byToken(ctx, req.GetToken())
	if err != nil {
		return nil, err
	}
	// The brand may have changed, and the call carries no version of the settings.
	settings, err := s.Tenants.Fresh(ctx, link.TenantID)
	if err != nil {
		return nil, err
	}
	var selection *catalogv1.ListSelectionGiftsResponse
	if status := link.Record.GetStatus(); status == rules.Active || status == rules.Requested {
		if selection, err = s.listGifts(ctx, link, settings); err != nil {
			return nil, err
		}
	}
	pictureIDs := selection.GetPictureIds()
	if !selection.GetOpen() {
		pictureIDs = s.publicPictures(ctx, link, settings)
	}
	return rules.ClaimPage(link, settings, selection, pictureIDs), nil
}

// publicPictures returns the ids of those pictures of the brand's site that are public, for a page without gifts. Without them the
// page only shows less, so a failure does not fail the page.
func (s *Server) publicPictures(ctx context.Context, l *rules.Link, settings *tenants.Settings) []string {
	ids := rules.PictureIDs(rules.GiftSite(settings.GetGiftSites(), l.Record.GetBrandId()))
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, giftTimeout)
	defer cancel()
	found, err := s.Catalog.ListSelectionGifts(ctx, &catalogv1.ListSelectionGiftsRequest{
		TenantId: l.TenantID, Selection: &catalogv1.Selection{}, Locale: l.Locale, BrandId: &l.Record.BrandId, PictureIds: ids,
		Preview: true, // No gifts.
	})
	if err != nil {
		return nil
	}
	return found.GetPictureIds()
}

// linkHere finds the link of a token for a call that reads no settings. The link of a tenant that has moved to another cell is not
// found, so that the gateway looks for it there. Calls that read settings learn it from them.
func (s *Server) linkHere(ctx context.Context, token string) (*rules.Link, error) {
	link, err := s.byToken(ctx, token)
	if err != nil {
		return nil, err
	}
	return link, s.Tenants.Here(ctx, link.TenantID)
}

// byToken finds the link of a token. Its errors do not contain the token.
func (s *Server) byToken(ctx context.Context, token string) (*rules.Link, error) {
	unknown := problem.New(problem.NotFound, "There is no such link.")
	hash, ok := rules.HashToken(token)
	if !ok {
		return nil, unknown
	}
	link, err := s.Store.ByToken(ctx, hash)
	if errors.Is(err, store.ErrNotFound) {
		return nil, unknown
	}
	return link, err
}

// listGifts returns the gifts of a link that can be chosen now. It is not open if the tenant is off-boarded.
func (s *Server) listGifts(
	ctx context.Context, l *rules.Link, settings *tenants.Settings,
) (*catalogv1.ListSelectionGiftsResponse, error) {
	if settings.GetOffboarding() {
		return &catalogv1.ListSelectionGiftsResponse{}, nil
	}
	site := rules.GiftSite(settings.GetGiftSites(), l.Record.GetBrandId())
	req := &catalogv1.ListSelectionGiftsRequest{
		TenantId:    l.TenantID,
		Selection:   &catalogv1.Selection{CampaignId: l.Record.CampaignId, ProductIds: l.ProductIDs},
		Locale:      l.Locale,
		BrandId:     &l.Record.BrandId,
		HeroImageId: fields.Optional(new(site.GetTheme().GetHeroImageId())),
		PictureIds:  rules.PictureIDs(site),
	}
	found, err := s.Catalog.ListSelectionGifts(ctx, req)
	if len(req.GetPictureIds()) > 0 && rpc.RefusedByOlder(err) {
		req.PictureIds = nil // Release 1.0.0 does not know them. Without them the page only shows less.
		return s.Catalog.ListSelectionGifts(ctx, req)
	}
	return found, err
}
