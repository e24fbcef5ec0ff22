package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// GetMe returns the calling key, the current settings of its tenant and the environment. A key that was
// revoked after the edge accepted it, or whose access was switched off, is refused.
func (p *public) GetMe(ctx context.Context, _ *tenantsv1.GetMeRequest) (*tenantsv1.GetMeResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	tenant, key, err := p.Store.Me(ctx, principal.TenantID, principal.KeyID)
	if errors.Is(err, store.ErrNotFound) {
		return nil, problem.New(problem.InvalidAPIKey, "The API key is not valid.")
	}
	if err != nil {
		return nil, err
	}
	return &tenantsv1.GetMeResponse{Tenant: tenant, Key: key.Proto(), Environment: string(p.environment)}, nil
}

// ListBrands lists the brands that the key may see, by name.
func (p *public) ListBrands(ctx context.Context, _ *tenantsv1.ListBrandsRequest) (*tenantsv1.ListBrandsResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	brands, err := p.Store.Brands(ctx, principal.TenantID, principal.AllBrands, principal.BrandIDs)
	if err != nil {
		return nil, err
	}
	return &tenantsv1.ListBrandsResponse{Brands: brands}, nil
}

// GetTenantSettings returns all settings of a tenant in one version.
func (d *directory) GetTenantSettings(
	ctx context.Context, req *tenantsv1.GetTenantSettingsRequest,
) (*tenantsv1.GetTenantSettingsResponse, error) {
	var errs fields.Errors
	tenantID := errs.UUID("tenantId", req.GetTenantId())
	if err := errs.Err(); err != nil {
		return nil, err
	}
	settings, err := d.store.Settings(ctx, tenantID)
	if err != nil {
		return nil, asProblem(err)
	}
	return settings, nil
}
