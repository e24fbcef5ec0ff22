package server

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/phone"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
	"github.com/partnergifting/platform/services/orders/internal/store"
)

// PlaceClaimedOrder places the order of a claim, once, under the id that the claim chose. If the link has an order under another
// id, it returns that one. The response has no order if the claim was abandoned.
func (s *Server) PlaceClaimedOrder(
	ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	claim, err := readClaimedOrder(req)
	if err != nil {
		return nil, err
	}
	req.OrderId, req.TenantId, req.PersonalLinkId = claim.OrderID, claim.TenantID, claim.LinkID
	found, abandoned, err := s.Store.FindClaim(ctx, claim)
	if err != nil || found != nil || abandoned {
		return &ordersv1.PlaceClaimedOrderResponse{Order: found}, err
	}
	order, err := s.prepareForClaim(ctx, req)
	if err != nil {
		return nil, err
	}
	resp, err := s.commitOrder(ctx, order)
	if errors.Is(err, store.ErrOrderIDSpent) || errors.Is(err, store.ErrLinkOrdered) {
		// Another call was first: it placed the link's order or abandoned this one.
		found, err := s.abandonClaim(ctx, claim)
		return &ordersv1.PlaceClaimedOrderResponse{Order: found}, err
	}
	return &ordersv1.PlaceClaimedOrderResponse{Order: resp.GetOrder()}, err
}

// prepareForClaim checks the claim and takes its unit of stock. Its link was approved, so the order needs no approval.
func (s *Server) prepareForClaim(ctx context.Context, req *ordersv1.PlaceClaimedOrderRequest) (*rules.NewOrder, error) {
	if err := rules.CheckClaim(req); err != nil {
		return nil, err
	}
	placement := rules.ClaimPlacement(req)
	var err error
	e := &examination{
		placement: &placement, principal: caller.Principal{TenantID: req.GetTenantId(), AllBrands: true}, errs: &fields.Errors{},
	}
	placement.Gift, err = s.Catalog.CheckItem(ctx, e.itemRequest())
	if err != nil {
		return nil, err
	}
	return s.reserve(ctx, placement, []byte("claim/"+req.GetOrderId()))
}

// AbandonClaimedOrder ends a claim whose outcome the caller does not know.
func (s *Server) AbandonClaimedOrder(
	ctx context.Context, req *ordersv1.AbandonClaimedOrderRequest,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	claim, err := readClaimedOrder(req)
	if err != nil {
		return nil, err
	}
	order, err := s.abandonClaim(ctx, claim)
	return &ordersv1.AbandonClaimedOrderResponse{Order: order}, err
}

// abandonClaim ends the claim unless it has placed its order: no order will have its id, and its unit of stock is returned. It
// returns the order of the claim or, if there is none, that of the link.
func (s *Server) abandonClaim(ctx context.Context, claim store.Claim) (*ordersv1.Order, error) {
	order, err := s.Store.AbandonClaim(ctx, claim)
	if err == nil && order.GetId() != claim.OrderID {
		s.Reservations.Abandon(ctx, store.Reserved{TenantID: claim.TenantID, OrderID: claim.OrderID})
	}
	return order, err
}

const (
	// playerID is the id, in the audit, of the player who has claimed the order's link. No caller can use it, as with sandboxID.
	playerID = "Player"
	// maxPlayerCorrections bounds the versions and events that somebody who has the claim URL can cause.
	maxPlayerCorrections = 10
)

// claimedOrder has the fields of every request about the order of a link.
type claimedOrder interface {
	GetOrderId() string
	GetTenantId() string
	GetPersonalLinkId() string
}

func readClaimedOrder(req claimedOrder) (store.Claim, error) {
	errs := &fields.Errors{}
	claim := store.Claim{
		TenantID: errs.UUID("tenantId", req.GetTenantId()), OrderID: errs.UUID("orderId", req.GetOrderId()),
		LinkID: errs.UUID("personalLinkId", req.GetPersonalLinkId()),
	}
	return claim, errs.Err()
}

// GetClaimedOrder returns the order of a link as its player sees it. It is no operation of a person, and is not audited: a page may
// be read any number of times, and of the details it shows in clear only what is put on the gift.
func (s *Server) GetClaimedOrder(
	ctx context.Context, req *ordersv1.GetClaimedOrderRequest,
) (*ordersv1.GetClaimedOrderResponse, error) {
	claim, err := readClaimedOrder(req)
	if err != nil {
		return nil, err
	}
	full, err := s.Store.GetFull(ctx, claim.TenantID, claim.OrderID)
	if errors.Is(err, store.ErrNotFound) || err == nil && full.Record.GetPersonalLinkId() != claim.LinkID {
		return nil, problem.RecordNotFound()
	}
	if err != nil {
		return nil, err
	}
	resp := &ordersv1.GetClaimedOrderResponse{Order: full.Record}
	if !req.GetWithRecipient() {
		return resp, nil
	}
	if !full.DetailsErased {
		details, err := full.Details()
		if err != nil {
			return nil, err
		}
		resp.MaskedRecipient, resp.Customization = details.Recipient.Masked(), details.Customization
		if req.PhoneDigits != nil {
			resp.PhoneMatches = new(details.Recipient.PhoneEndsWith(req.GetPhoneDigits()))
		}
	}
	history, err := s.Store.ClaimHistory(ctx, claim.TenantID, claim.OrderID)
	if err != nil {
		return nil, err
	}
	milestones := rules.MilestonesOf(history.Changes)
	resp.SentAt, resp.DeliveredAt = milestones.SentAt, milestones.DeliveredAt
	if history.Thanks == nil {
		resp.AcceptsThanks = rules.RefuseThanks(full.Record, full.DetailsErased, history.Changes, s.now()) == nil
	} else if text := history.Thanks.Message.Record.GetBody(); text != rules.Erased {
		resp.Thanks = text
	}
	return resp, nil
}

// CorrectClaimedOrder corrects the delivery details of the order of a link for its player.
func (s *Server) CorrectClaimedOrder(
	ctx context.Context, req *ordersv1.CorrectClaimedOrderRequest,
) (*ordersv1.CorrectClaimedOrderResponse, error) {
	claim, err := readClaimedOrder(req)
	if err != nil {
		return nil, err
	}
	audit := auditOfPlayer(claim, ordersv1.Operation_OPERATION_CORRECT_DELIVERY)
	var corrections int
	decide := func(current *rules.Current) (*rules.Change, error) {
		if current.Record.GetPersonalLinkId() != claim.LinkID {
			return nil, store.ErrNotFound
		}
		correction := &ordersv1.UpdateDeliveryRequest{
			ExpectedVersion: req.ExpectedVersion, Recipient: withPhoneOf(req.GetRecipient(), current.Record.GetDeliveryCountry()),
			CourierComment: req.CourierComment,
		}
		if rules.IsCorrected(current, correction) { // Perhaps the player has clicked twice.
			return nil, nil //nolint:nilnil // No change and no error.
		}
		if corrections >= maxPlayerCorrections {
			return nil, problem.New(problem.RateLimited, "The player has corrected the delivery details %d times.", corrections)
		}
		return rules.CorrectDeliveryOf(current, correction, s.now(), &fields.Errors{})
	}
	action := auditedAction(audit, decide)
	action.Decide = decide // What changes nothing is not audited, and does not count as one of the corrections.
	action.ReadMore = func(b *pgx.Batch, _, _ string) { store.QueueAuditCount(b, audit, &corrections) }
	order, err := changeOrder(ctx, s, claim.OrderID, action)
	return &ordersv1.CorrectClaimedOrderResponse{Order: order}, err
}

// withPhoneOf reads a national number as one of the country to which the order goes.
func withPhoneOf(c *ordersv1.DeliveryCorrection, country string) *ordersv1.DeliveryCorrection {
	number, ok := phone.ParseIn(c.GetPhone(), country)
	if !ok {
		return c
	}
	c = proto.CloneOf(c)
	c.Phone = &number
	return c
}

func auditOfPlayer(claim store.Claim, operation ordersv1.Operation) rules.Audit {
	return rules.Audit{
		TenantID: claim.TenantID, OrderID: claim.OrderID, Operation: operation,
		Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM, Id: playerID},
	}
}

// ThankForClaimedOrder posts a player's word of thanks. The first one of an order stays, so a form may be sent any number of times.
func (s *Server) ThankForClaimedOrder(
	ctx context.Context, req *ordersv1.ThankForClaimedOrderRequest,
) (*ordersv1.ThankForClaimedOrderResponse, error) {
	claim, err := readClaimedOrder(req)
	if err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	rules.CheckThanks(req.GetText(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	var history store.ClaimHistory
	action := store.Action[*ordersv1.ThankForClaimedOrderResponse]{
		TenantID: claim.TenantID,
		Answer: func(*ordersv1.Order) *ordersv1.ThankForClaimedOrderResponse {
			return &ordersv1.ThankForClaimedOrderResponse{}
		},
	}.WithMessage(s.Store, rules.NewThanks(claim.OrderID, req.GetText()), func() error { return nil }, s.now)
	read, post, insert := action.ReadMore, action.Decide, action.WriteMore
	action.ReadMore = func(b *pgx.Batch, tenantID, orderID string) {
		s.Store.QueueClaimHistory(b, tenantID, orderID, &history)
		read(b, tenantID, orderID)
	}
	action.Decide = func(current *rules.Current) (*rules.Change, error) {
		switch {
		case current.Record.GetPersonalLinkId() != claim.LinkID:
			return nil, store.ErrNotFound
		case history.Thanks != nil:
			return nil, nil //nolint:nilnil // No change and no error.
		}
		if err := rules.RefuseThanks(current.Record, current.DetailsErased, history.Changes, s.now()); err != nil {
			return nil, err
		}
		return post(current)
	}
	action.WriteMore = func(b *pgx.Batch, before *rules.Current, change *rules.Change) {
		insert(b, before, change)
		store.QueueAudit(b, auditOfPlayer(claim, ordersv1.Operation_OPERATION_POST_MESSAGE), before.Record, before.Record)
	}
	return changeOrder(ctx, s, claim.OrderID, action)
}
