package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/actor"
	"github.com/partnergifting/platform/pkg/fields"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// PutTenant creates or replaces a tenant.
func (o *operations) PutTenant(ctx context.Context, req *tenantsv1.PutTenantRequest) (*tenantsv1.PutTenantResponse, error) {
	var errs fields.Errors
	actor.Check(req.GetActor(), &errs)
	by := store.By{Actor: req.GetActor(), Needs: rules.Access(tenantsv1.TenantOperationsService_PutTenant_FullMethodName)}
	tenant := rules.Tenant(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	stored, version, err := o.Store.PutTenant(ctx, by, tenant, req.GetApiAccess())
	if err != nil {
		return nil, refused(err)
	}
	return &tenantsv1.PutTenantResponse{Tenant: stored}, o.Versions.Publish(ctx, tenant.GetId(), version)
}

// PutBrand creates or replaces a brand of a tenant.
func (o *operations) PutBrand(
	ctx context.Context, req *tenantsv1.PutBrandRequest,
) (*tenantsv1.PutBrandResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_PutBrand_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	brand := rules.Brand(req.GetBrand(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutBrand(ctx, tenantID, by, brand)
	if err != nil {
		return nil, refused(err)
	}
	return &tenantsv1.PutBrandResponse{Brand: brand}, o.Versions.Publish(ctx, tenantID, version)
}

// PutTeamMember creates or replaces a member of a tenant's team.
func (o *operations) PutTeamMember(
	ctx context.Context, req *tenantsv1.PutTeamMemberRequest,
) (*tenantsv1.PutTeamMemberResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_PutTeamMember_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	member := rules.TeamMember(req.GetMember(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutTeamMember(ctx, tenantID, by, member)
	if err != nil {
		return nil, refused(err)
	}
	return &tenantsv1.PutTeamMemberResponse{Member: member}, o.Versions.Publish(ctx, tenantID, version)
}

// PutCustomField creates or replaces a custom field of a tenant.
func (o *operations) PutCustomField(
	ctx context.Context, req *tenantsv1.PutCustomFieldRequest,
) (*tenantsv1.PutCustomFieldResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(tenantsv1.TenantOperationsService_PutCustomField_FullMethodName, req.GetActor(), req.GetTenantId(), &errs)
	field := rules.CustomField(req.GetField(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutCustomField(ctx, tenantID, by, field, req.GetPosition())
	if err != nil {
		return nil, refused(err)
	}
	return &tenantsv1.PutCustomFieldResponse{Field: field}, o.Versions.Publish(ctx, tenantID, version)
}
