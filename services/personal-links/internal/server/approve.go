package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// ApprovePersonalLink lets the player claim a link that waits.
func (o *Operations) ApprovePersonalLink(
	ctx context.Context, req *linksv1.ApprovePersonalLinkRequest,
) (*linksv1.ApprovePersonalLinkResponse, error) {
	tenantID, err := o.permit(ctx, fields.FromContext(ctx), req.GetActor(), req.GetTenantId(), rules.PermitApproval)
	if err != nil {
		return nil, err
	}
	link, err := o.Store.Update(ctx, tenantID, idOrUnknown(req.GetLinkId()), func(l *rules.Link) (*store.Change, error) {
		changed, err := l.Approve(o.Clock())
		if err != nil || !changed {
			return nil, err
		}
		audit := auditOf(req.GetActor(), store.Approved)
		return &store.Change{Event: rules.EventApproved, Audit: &audit}, nil
	})
	if err != nil {
		return nil, absent(err)
	}
	return &linksv1.ApprovePersonalLinkResponse{Link: link.Record}, nil
}

// ApprovePersonalLinkBatch approves every link of the batch that waits.
func (o *Operations) ApprovePersonalLinkBatch(
	ctx context.Context, req *linksv1.ApprovePersonalLinkBatchRequest,
) (*linksv1.ApprovePersonalLinkBatchResponse, error) {
	tenantID, err := o.permit(ctx, fields.FromContext(ctx), req.GetActor(), req.GetTenantId(), rules.PermitApproval)
	if err != nil {
		return nil, err
	}
	n, err := o.Store.ApproveBatch(ctx, tenantID, idOrUnknown(req.GetBatchId()), auditOf(req.GetActor(), store.Approved), o.Clock())
	if err != nil {
		return nil, absent(err)
	}
	return &linksv1.ApprovePersonalLinkBatchResponse{Approved: int32(n)}, nil //nolint:gosec // At most a batch.
}
