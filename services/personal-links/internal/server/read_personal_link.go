package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// ReadPersonalLink reads a link with what only the team and the operator see.
func (s *Server) ReadPersonalLink(
	ctx context.Context, req *linksv1.ReadPersonalLinkRequest,
) (*linksv1.ReadPersonalLinkResponse, error) {
	tenantID, err := s.permit(ctx, req, rules.PermitTeam, fields.FromContext(ctx))
	if err != nil {
		return nil, err
	}
	link, err := s.store.Get(ctx, tenantID, idOrUnknown(req.GetLinkId()))
	if err != nil {
		return nil, notFound(err)
	}
	return &linksv1.ReadPersonalLinkResponse{Details: detailsOf(link)}, nil
}
