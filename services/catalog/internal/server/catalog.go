package server

import (
	"context"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// Collectors are the RPCs that report the edge's field faults together with their own.
func Collectors() []string {
	return []string{
		catalogv1.CatalogService_ListProducts_FullMethodName,
		catalogv1.CatalogService_GetProduct_FullMethodName,
		catalogv1.CatalogService_ListCategories_FullMethodName,
		catalogv1.CatalogService_ListCampaigns_FullMethodName,
		catalogv1.CatalogService_GetCampaign_FullMethodName,
	}
}

// Catalog is the public plane.
type Catalog struct {
	catalogv1.UnimplementedCatalogServiceServer

	store   *store.Store
	tenants *tenantcache.Cache
	present presenter
}

// NewCatalog makes the public plane. publicURL is the base address integrators see.
func NewCatalog(st *store.Store, tenants *tenantcache.Cache, publicURL string) *Catalog {
	return &Catalog{store: st, tenants: tenants, present: newPresenter(publicURL)}
}

// settings gives the calling key and its tenant, never older than the edge saw it.
func (c *Catalog) settings(ctx context.Context) (caller.Principal, *tenantsv1.Tenant, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return caller.Principal{}, nil, err
	}
	s, err := c.tenants.Get(ctx, p.TenantID, p.TenantVersion)
	if err != nil {
		return caller.Principal{}, nil, err
	}
	return p, s.GetTenant(), nil
}
