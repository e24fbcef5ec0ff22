package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// CancelPersonalLinkAs withdraws a link for a person, by the rules of CancelPersonalLink.
func (o *Operations) CancelPersonalLinkAs(
	ctx context.Context, req *linksv1.CancelPersonalLinkAsRequest,
) (*linksv1.CancelPersonalLinkAsResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckReason(req.GetReason(), errs)
	tenantID, err := o.permit(ctx, errs, req.GetActor(), req.GetTenantId(), rules.PermitTeam)
	if err != nil {
		return nil, err
	}
	linkID := idOrUnknown(req.GetLinkId())
	audit := auditOf(req.GetActor(), store.Cancelled)
	for range maxSettled {
		var marked *rules.Link
		link, err := o.Store.Update(ctx, tenantID, linkID, func(l *rules.Link) (*store.Change, error) {
			marked = l
			changed, err := l.Cancel(req.GetReason(), o.Clock())
			if err != nil || !changed {
				return nil, err
			}
			return &store.Change{Event: rules.EventCancelled, Audit: &audit}, nil
		})
		switch {
		case err == nil:
			return &linksv1.CancelPersonalLinkAsResponse{Link: link.Record}, nil
		case !errors.Is(err, rules.ErrMarked):
			return nil, absent(err)
		}
		if _, err := o.Claims.Settle(ctx, marked); err != nil {
			return nil, err
		}
	}
	return nil, problem.Unavailable()
}
