package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// PutTenant creates or replaces a tenant.
func (o *operations) PutTenant(ctx context.Context, req *tenantsv1.PutTenantRequest) (*tenantsv1.PutTenantResponse, error) {
	var errs fields.Errors
	tenant := rules.Tenant(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	stored, version, err := o.Store.PutTenant(ctx, tenant, req.GetApiAccess())
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, tenant.GetId(), version)
	return &tenantsv1.PutTenantResponse{Tenant: stored}, nil
}

// PutBrand creates or replaces a brand of a tenant.
func (o *operations) PutBrand(
	ctx context.Context, req *tenantsv1.PutBrandRequest,
) (*tenantsv1.PutBrandResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	brand := rules.Brand(req.GetBrand(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutBrand(ctx, tenantID, brand)
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, tenantID, version)
	return &tenantsv1.PutBrandResponse{Brand: brand}, nil
}

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

// PutCustomField creates or replaces a custom field of a tenant.
func (o *operations) PutCustomField(
	ctx context.Context, req *tenantsv1.PutCustomFieldRequest,
) (*tenantsv1.PutCustomFieldResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	field := rules.CustomField(req.GetField(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutCustomField(ctx, tenantID, field, req.GetPosition())
	if err != nil {
		return nil, refused(err)
	}
	o.Versions.Publish(ctx, tenantID, version)
	return &tenantsv1.PutCustomFieldResponse{Field: field}, nil
}
