package server

import (
	"context"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// PutTenant creates or replaces a tenant.
func (o *operations) PutTenant(ctx context.Context, req *tenantsv1.PutTenantRequest) (*tenantsv1.PutTenantResponse, error) {
	var errs fields.Errors
	caller.CheckActor(req.GetActor(), &errs)
	by := store.Authorization{Actor: req.GetActor(), Needs: permission(ctx)}
	tenant := rules.Tenant(req, &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	stored, version, err := o.Store.PutTenant(ctx, by, tenant, req.GetApiAccess(), req.GetCell())
	if err := o.publish(ctx, tenant.GetId(), version, err); err != nil {
		return nil, err
	}
	return &tenantsv1.PutTenantResponse{
		Tenant: stored, Warnings: append(rules.LocaleWarnings(tenant), o.currencyWarnings(ctx, tenant)...),
	}, nil
}

// catalogTimeout bounds the call to the catalog. If the call fails, the tenant is put nevertheless.
const catalogTimeout = time.Second

func (o *operations) currencyWarnings(ctx context.Context, tenant *tenantsv1.Tenant) []string {
	ctx, cancel := context.WithTimeout(ctx, catalogTimeout)
	defer cancel()
	checked, err := o.Currencies.CheckCurrency(ctx, &catalogv1.CheckCurrencyRequest{Currency: tenant.GetCurrency()})
	switch {
	case err != nil:
		return []string{fmt.Sprintf("The catalog did not say whether it has an exchange rate for %s. Without one, gifts are unpriced.",
			tenant.GetCurrency())}
	case !checked.GetPriced():
		return []string{
			fmt.Sprintf("The catalog has no exchange rate for %s, so gifts are unpriced until it has one.", tenant.GetCurrency()),
		}
	default:
		return nil
	}
}

// PutBrand creates or replaces a brand of a tenant.
func (o *operations) PutBrand(
	ctx context.Context, req *tenantsv1.PutBrandRequest,
) (*tenantsv1.PutBrandResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	brand := rules.Brand(req.GetBrand(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutBrand(ctx, tenantID, by, brand)
	return &tenantsv1.PutBrandResponse{Brand: brand}, o.publish(ctx, tenantID, version, err)
}

// PutTeamMember creates or replaces a member of a tenant's team.
func (o *operations) PutTeamMember(
	ctx context.Context, req *tenantsv1.PutTeamMemberRequest,
) (*tenantsv1.PutTeamMemberResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	member := rules.TeamMember(req.GetMember(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutTeamMember(ctx, tenantID, by, member)
	return &tenantsv1.PutTeamMemberResponse{Member: member}, o.publish(ctx, tenantID, version, err)
}

// PutCustomField creates or replaces a custom field of a tenant.
func (o *operations) PutCustomField(
	ctx context.Context, req *tenantsv1.PutCustomFieldRequest,
) (*tenantsv1.PutCustomFieldResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	field := rules.CustomField(req.GetField(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutCustomField(ctx, tenantID, by, field, req.GetPosition())
	return &tenantsv1.PutCustomFieldResponse{Field: field}, o.publish(ctx, tenantID, version, err)
}

// PutGiftSite creates or replaces the links, the theme and the delivery times of a brand's gift site.
func (o *operations) PutGiftSite(
	ctx context.Context, req *tenantsv1.PutGiftSiteRequest,
) (*tenantsv1.PutGiftSiteResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	brandID := errs.RequiredUUID("brandId", req.GetBrandId())
	site := fields.CheckGiftSite(req.GetSite(), &errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	version, err := o.Store.PutGiftSite(ctx, tenantID, by, brandID, site)
	return &tenantsv1.PutGiftSiteResponse{Site: site}, o.publish(ctx, tenantID, version, err)
}
