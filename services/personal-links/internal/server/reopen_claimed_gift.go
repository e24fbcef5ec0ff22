package server

import (
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// ReopenClaimedGift lets the player see the claimed gift on another device. The orders service compares the digits: it stores the
// phone number sealed, and knows its corrections.
func (s *Server) ReopenClaimedGift(
	ctx context.Context, req *linksv1.ReopenClaimedGiftRequest,
) (*linksv1.ReopenClaimedGiftResponse, error) {
	errs := caller.RequestErrors(ctx)
	rules.CheckNonce(req.GetFormNonce(), errs)
	rules.CheckPhoneDigits(req.GetPhoneDigits(), errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	link, err := s.linkHere(ctx, req.GetToken())
	if err != nil {
		return nil, err
	}
	if link.Record.GetStatus() != rules.Claimed {
		return nil, problem.RecordNotFound()
	}
	try, err := s.Store.CountTry(ctx, link.TenantID, link.Record.GetId())
	if err != nil {
		return nil, err
	}
	if !try.Allowed {
		limited := problem.New(problem.RateLimited, "The digits were tried too often.")
		limited.RetryAfter = try.Pause
		return nil, limited
	}
	found, err := s.Orders.GetClaimedOrder(ctx, &ordersv1.GetClaimedOrderRequest{
		OrderId: link.Record.GetOrderId(), TenantId: link.TenantID, PersonalLinkId: link.Record.GetId(), WithRecipient: true,
		PhoneDigits: proto.String(req.GetPhoneDigits()),
	})
	switch {
	case err != nil:
		return nil, err
	case found.PhoneMatches == nil:
		return nil, problem.New(problem.NotEditable, "The phone number was erased.")
	case !found.GetPhoneMatches():
		return &linksv1.ReopenClaimedGiftResponse{TriesLeft: try.Left, Pause: durationpb.New(try.Pause)}, nil
	}
	hash, _ := rules.HashToken(req.GetToken())
	if err := s.Store.Reopen(ctx, hash, rules.HashNonce(req.GetFormNonce())); err != nil {
		return nil, err
	}
	return &linksv1.ReopenClaimedGiftResponse{Reopened: true}, nil
}

// hasReopened reports whether the form of the request has reopened the claimed gift.
func (s *Server) hasReopened(ctx context.Context, req formRequest) (bool, error) {
	if req.GetFormNonce() == "" {
		return false, nil
	}
	hash, _ := rules.HashToken(req.GetToken())
	draft, err := s.Store.Draft(ctx, hash, rules.HashNonce(req.GetFormNonce()))
	return draft.GetReopened(), err
}
