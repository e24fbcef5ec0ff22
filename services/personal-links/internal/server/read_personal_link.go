package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// ReadPersonalLink gives one link with what only the team and the operator see.
func (o *Operations) ReadPersonalLink(
	ctx context.Context, req *linksv1.ReadPersonalLinkRequest,
) (*linksv1.ReadPersonalLinkResponse, error) {
	tenantID, err := o.permit(ctx, fields.FromContext(ctx), req.GetActor(), req.GetTenantId(), rules.PermitTeam)
	if err != nil {
		return nil, err
	}
	link, err := o.Store.Get(ctx, tenantID, idOrUnknown(req.GetLinkId()))
	if err != nil {
		return nil, absent(err)
	}
	return &linksv1.ReadPersonalLinkResponse{Details: detailsOf(link)}, nil
}
