package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// PutTeamMember creates or replaces a member of a tenant's team.
func (o *operations) PutTeamMember(
	ctx context.Context, req *tenantsv1.PutTeamMemberRequest,
) (*tenantsv1.PutTeamMemberResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	member := rules.TeamMember(req.GetMember(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutTeamMember(ctx, tenantID, member)
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, tenantID, version)
	return &tenantsv1.PutTeamMemberResponse{Member: member}, nil
}
