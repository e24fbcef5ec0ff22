package server

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

const maxClaimRecords = 5000

// ListClaimRecords lists the claimed links, or the named ones.
func (s *Server) ListClaimRecords(
	ctx context.Context, req *linksv1.ListClaimRecordsRequest,
) (*linksv1.ListClaimRecordsResponse, error) {
	errs := caller.RequestErrors(ctx)
	after := store.Name{TenantID: uuid.Nil.String(), ID: uuid.Nil.String()}
	if req.GetAfter() != nil {
		after = nameOf("after", req.GetAfter(), errs)
	}
	links := make([]store.Name, len(req.GetLinks()))
	for i, link := range req.GetLinks() {
		links[i] = nameOf(fmt.Sprintf("links[%d]", i), link, errs)
	}
	switch {
	case len(links) > maxClaimRecords:
		errs.Add("links", problem.FieldInvalid, "must hold at most 5000 links")
	case len(links) == 0 && (req.GetLimit() < 1 || req.GetLimit() > maxClaimRecords):
		errs.Add("limit", problem.FieldInvalid, "must be between 1 and 5000")
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	resp := &linksv1.ListClaimRecordsResponse{}
	var err error
	if len(links) > 0 {
		resp.Records, err = s.Store.ClaimRecordsOf(ctx, links)
	} else {
		resp.Records, err = s.Store.ClaimRecords(ctx, after, int(req.GetLimit()))
	}
	return resp, err
}

func nameOf(field string, link *linksv1.LinkName, errs *fields.Errors) store.Name {
	return store.Name{
		TenantID: errs.UUID(field+".tenantId", link.GetTenantId()), ID: errs.UUID(field+".linkId", link.GetLinkId()),
	}
}

// RestoreClaim makes a link CLAIMED with the order that it has lost.
func (s *Server) RestoreClaim(ctx context.Context, req *linksv1.RestoreClaimRequest) (*linksv1.RestoreClaimResponse, error) {
	errs := caller.RequestErrors(ctx)
	link := nameOf("link", req.GetLink(), errs)
	outcome := rules.ClaimOutcome{OrderID: errs.UUID("orderId", req.GetOrderId()), PlacedAt: req.GetPlacedAt().AsTime()}
	var lostOrderID string
	if id := errs.OptionalUUID("lostOrderId", req.LostOrderId); id != nil {
		lostOrderID = *id
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	after, err := s.Store.RestoreClaim(ctx, link, outcome, lostOrderID, s.Clock())
	if err != nil {
		return nil, notFound(err)
	}
	return &linksv1.RestoreClaimResponse{Record: &linksv1.ClaimRecord{
		Link:   &linksv1.LinkName{TenantId: link.TenantID, LinkId: link.ID},
		Status: after.Record.GetStatus(), OrderId: after.Record.OrderId, InFlight: after.ClaimOrderID != nil,
	}}, nil
}
