package server

import (
	"context"
	"errors"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// GetClaimedGift returns how far the order of a claimed link is. Only the form that made the claim learns which gift is sent where:
// others may have the link too. A form that has reopened the gift learns all but the recipient and the thanks.
func (s *Server) GetClaimedGift(ctx context.Context, req *linksv1.GetClaimedGiftRequest) (*linksv1.GetClaimedGiftResponse, error) {
	link, err := s.linkHere(ctx, req.GetToken())
	if err != nil {
		return nil, err
	}
	if link.Record.GetStatus() != rules.Claimed {
		return nil, problem.RecordNotFound()
	}
	madeClaim := link.ClaimedBy(req.GetFormNonce())
	seesGift := madeClaim
	if !madeClaim {
		if seesGift, err = s.hasReopened(ctx, req); err != nil {
			return nil, err
		}
	}
	found, err := s.Orders.GetClaimedOrder(ctx, &ordersv1.GetClaimedOrderRequest{
		OrderId: link.Record.GetOrderId(), TenantId: link.TenantID, PersonalLinkId: link.Record.GetId(),
		WithRecipient: seesGift,
	})
	if err != nil {
		return nil, err
	}
	resp := &linksv1.GetClaimedGiftResponse{Progress: rules.Progress(found.GetOrder().GetStatus())}
	if !madeClaim {
		rules.HideFromOthers(found)
	}
	if seesGift {
		resp.Gift = rules.ClaimedGift(link, found, s.orderedGift(ctx, link, found.GetOrder()))
	}
	return resp, nil
}

// giftTimeout is much shorter than the time that a player waits for the page.
const giftTimeout = time.Second

// orderedGift returns the gift of an order in the words of the link's locale, nil for a custom request. Without it the page only
// shows less, so a failure does not fail the page.
func (s *Server) orderedGift(ctx context.Context, l *rules.Link, order *ordersv1.Order) *catalogv1.SelectionGift {
	productID := rules.ProductOf(order)
	if productID == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, giftTimeout)
	defer cancel()
	found, err := s.Catalog.GetOrderedGift(ctx,
		&catalogv1.GetOrderedGiftRequest{TenantId: l.TenantID, ProductId: productID, Locale: l.Locale})
	if err != nil {
		return nil
	}
	return found.GetGift()
}

// CorrectClaimedGift corrects where the gift is sent. The form that made the claim is the only one that may.
func (s *Server) CorrectClaimedGift(
	ctx context.Context, req *linksv1.CorrectClaimedGiftRequest,
) (*linksv1.CorrectClaimedGiftResponse, error) {
	link, err := s.linkOfForm(ctx, req)
	if err != nil {
		return nil, err
	}
	if !link.ClaimedBy(req.GetFormNonce()) {
		return nil, problem.RecordNotFound()
	}
	r := req.GetRecipient()
	corrected, err := s.Orders.CorrectClaimedOrder(ctx, &ordersv1.CorrectClaimedOrderRequest{
		OrderId: link.Record.GetOrderId(), TenantId: link.TenantID, PersonalLinkId: link.Record.GetId(),
		ExpectedVersion: proto.Int64(req.GetExpectedVersion()), CourierComment: fields.Optional(new(r.GetCourierComment())),
		Recipient: &ordersv1.DeliveryCorrection{
			Name: fields.Optional(new(r.GetName())), Phone: fields.Optional(new(r.GetPhone())), Email: fields.Optional(new(r.GetEmail())),
			Address: &ordersv1.AddressCorrection{
				Street: fields.Optional(new(r.GetStreet())), City: fields.Optional(new(r.GetCity())),
				PostalCode: fields.Optional(new(r.GetPostalCode())),
			},
		},
	})
	hash, _ := rules.HashToken(req.GetToken())
	nonceHash := rules.HashNonce(req.GetFormNonce())
	if problem.Is(err, problem.NotEditable) {
		// No page shows what was typed any more. If it cannot be deleted, it expires.
		_ = s.Store.DeleteDraft(ctx, hash, nonceHash)
	}
	if err != nil {
		return nil, withPagePaths(err)
	}
	_, draft, err := s.Store.SaveDraft(ctx, hash, nonceHash,
		func(_ *rules.Link, stored *linksv1.ClaimDraft) (*linksv1.ClaimDraft, error) {
			return rules.CorrectedDraft(stored, req, corrected.GetOrder().GetVersion()), nil
		})
	if err != nil || draft == nil {
		// The details are corrected even if the draft stays until it expires.
		_ = s.Store.DeleteDraft(ctx, hash, nonceHash)
	}
	return &linksv1.CorrectClaimedGiftResponse{}, nil
}

// ThankForClaimedGift posts a word of thanks for the form that made the claim, unless the brand does not ask for one.
func (s *Server) ThankForClaimedGift(
	ctx context.Context, req *linksv1.ThankForClaimedGiftRequest,
) (*linksv1.ThankForClaimedGiftResponse, error) {
	link, err := s.linkOfForm(ctx, req)
	if err != nil {
		return nil, err
	}
	if !link.ClaimedBy(req.GetFormNonce()) {
		return nil, problem.RecordNotFound()
	}
	settings, err := s.Tenants.Fresh(ctx, link.TenantID)
	if err != nil {
		return nil, err
	}
	if settings.GetOffboarding() || rules.GiftSite(settings.GetGiftSites(), link.Record.GetBrandId()).GetWithoutThanks() {
		return nil, problem.New(problem.NotEditable, "The brand does not ask for a word of thanks.")
	}
	_, err = s.Orders.ThankForClaimedOrder(ctx, &ordersv1.ThankForClaimedOrderRequest{
		OrderId: link.Record.GetOrderId(), TenantId: link.TenantID, PersonalLinkId: link.Record.GetId(), Text: req.GetText(),
	})
	return &linksv1.ThankForClaimedGiftResponse{}, err
}

// GetClaimDraft returns what the form has entered so far.
func (s *Server) GetClaimDraft(ctx context.Context, req *linksv1.GetClaimDraftRequest) (*linksv1.GetClaimDraftResponse, error) {
	link, err := s.linkOfForm(ctx, req)
	if err != nil {
		return nil, err
	}
	resp := &linksv1.GetClaimDraftResponse{State: rules.ClaimState(link.Record.GetStatus())}
	if link.HasDraft(req.GetFormNonce()) {
		hash, _ := rules.HashToken(req.GetToken())
		resp.Draft, err = s.Store.Draft(ctx, hash, rules.HashNonce(req.GetFormNonce()))
	}
	return resp, err
}

// formRequest has the fields of every request of a form.
type formRequest interface {
	GetToken() string
	GetFormNonce() string
}

// linkOfForm returns the link of a form's request.
func (s *Server) linkOfForm(ctx context.Context, req formRequest) (*rules.Link, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckNonce(req.GetFormNonce(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return s.linkHere(ctx, req.GetToken())
}

// SaveClaimDraft stores what the form has entered.
func (s *Server) SaveClaimDraft(ctx context.Context, req *linksv1.SaveClaimDraftRequest) (*linksv1.SaveClaimDraftResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckDraft(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if _, err := s.linkHere(ctx, req.GetToken()); err != nil {
		return nil, err
	}
	hash, _ := rules.HashToken(req.GetToken())
	link, draft, err := s.Store.SaveDraft(ctx, hash, rules.HashNonce(req.GetFormNonce()),
		func(l *rules.Link, stored *linksv1.ClaimDraft) (*linksv1.ClaimDraft, error) {
			if !l.HasDraft(req.GetFormNonce()) {
				return nil, nil //nolint:nilnil // Nothing is saved.
			}
			return rules.NextDraft(stored, req)
		})
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.RecordNotFound()
	}
	if err != nil {
		return nil, err
	}
	return &linksv1.SaveClaimDraftResponse{State: rules.ClaimState(link.Record.GetStatus()), Draft: draft}, nil
}
