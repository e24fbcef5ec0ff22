package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// ApprovePersonalLink lets the player claim a link that waits.
func (s *Server) ApprovePersonalLink(
	ctx context.Context, req *linksv1.ApprovePersonalLinkRequest,
) (*linksv1.ApprovePersonalLinkResponse, error) {
	tenantID, err := s.permit(ctx, req, rules.PermitApproval, fields.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	link, err := s.store.Update(ctx, tenantID, idOrUnknown(req.GetLinkId()), func(l *rules.Link) (*store.Change, error) {
		return changeOf(req, rules.EventApproved, store.Approved)(l.Approve(s.clock()))
	})
	if err != nil {
		return nil, notFound(err)
	}
	return &linksv1.ApprovePersonalLinkResponse{Link: link.Record}, nil
}

// ApprovePersonalLinkBatch approves every link of the batch that waits.
func (s *Server) ApprovePersonalLinkBatch(
	ctx context.Context, req *linksv1.ApprovePersonalLinkBatchRequest,
) (*linksv1.ApprovePersonalLinkBatchResponse, error) {
	tenantID, err := s.permit(ctx, req, rules.PermitApproval, fields.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	n, err := s.store.ApproveBatch(ctx, tenantID, idOrUnknown(req.GetBatchId()), auditOf(req, store.Approved), s.clock())
	if err != nil {
		return nil, notFound(err)
	}
	return &linksv1.ApprovePersonalLinkBatchResponse{Approved: int32(n)}, nil //nolint:gosec // At most a batch.
}
