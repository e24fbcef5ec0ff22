package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// CancelPersonalLinkAs withdraws a link for a person, by the rules of CancelPersonalLink.
func (s *Server) CancelPersonalLinkAs(
	ctx context.Context, req *linksv1.CancelPersonalLinkAsRequest,
) (*linksv1.CancelPersonalLinkAsResponse, error) {
	errs := fields.FromContext(ctx)
	rules.CheckReason(req.GetReason(), errs)
	tenantID, err := s.permit(ctx, req, rules.PermitTeam, errs)
	if err != nil {
		return nil, err
	}
	resp := &linksv1.CancelPersonalLinkAsResponse{}
	err = s.withoutClaim(ctx, func() (locked *rules.Link, err error) {
		link, err := s.store.Update(ctx, tenantID, idOrUnknown(req.GetLinkId()), func(l *rules.Link) (*store.Change, error) {
			locked = l
			return changeOf(req, rules.EventCancelled, store.Cancelled)(l.Cancel(req.GetReason(), s.clock()))
		})
		if err == nil {
			resp.Link = link.Record
		}
		return locked, err
	})
	return resp, notFound(err)
}
