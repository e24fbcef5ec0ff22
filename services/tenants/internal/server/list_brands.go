package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// ListBrands lists the brands that the key reaches, by name.
func (p *public) ListBrands(ctx context.Context, _ *tenantsv1.ListBrandsRequest) (*tenantsv1.ListBrandsResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	brands, err := p.store.Brands(ctx, principal.TenantID, principal.AllBrands, principal.BrandIDs)
	if err != nil {
		return nil, err
	}
	return &tenantsv1.ListBrandsResponse{Brands: brands}, nil
}
