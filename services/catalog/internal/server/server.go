// Package server implements the gRPC methods of the catalog. Each method reads its request, applies the rules, uses the store
// and writes the response.
package server

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/catalog/internal/images"
	"github.com/partnergifting/platform/services/catalog/internal/picture"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// Deps are what the services work with.
type Deps struct {
	Store     *store.Store
	Files     *images.Files
	Processor *picture.Processor
	Directory tenantsv1.DirectoryServiceClient
}

// Config of the services.
type Config struct {
	// PublicURL is the base address of the public API as integrators see it.
	PublicURL string
	// Sandbox registers SandboxCatalogService.
	Sandbox bool
	// ReservationTTL is how long a reservation waits for its order.
	ReservationTTL time.Duration
	Cell           identity.Cell
}

// service answers all services of the catalog.
type service struct {
	catalogv1.UnimplementedCatalogServiceServer
	catalogv1.UnimplementedSandboxCatalogServiceServer
	catalogv1.UnimplementedImagesServiceServer
	catalogv1.UnimplementedOrderingServiceServer
	catalogv1.UnimplementedCurrenciesServiceServer
	catalogv1.UnimplementedSelectionsServiceServer
	catalogv1.UnimplementedBrandLogosServiceServer
	catalogv1.UnimplementedImportServiceServer
	catalogv1.UnimplementedCatalogOperationsServiceServer
	catalogv1.UnimplementedProductOperationsServiceServer
	catalogv1.UnimplementedCampaignOperationsServiceServer
	Deps

	tenants *tenants.Cache
	present presenter
	ttl     time.Duration
	cell    identity.Cell
}

// Register adds all services of the catalog to a gRPC server.
func Register(r grpc.ServiceRegistrar, deps Deps, cfg Config) {
	s := &service{
		Deps: deps, tenants: tenants.NewCache(deps.Directory, cfg.Cell), present: newPresenter(cfg.PublicURL), ttl: cfg.ReservationTTL,
		cell: cfg.Cell,
	}
	catalogv1.RegisterCatalogServiceServer(r, s)
	if cfg.Sandbox {
		catalogv1.RegisterSandboxCatalogServiceServer(r, s)
	}
	catalogv1.RegisterImagesServiceServer(r, s)
	catalogv1.RegisterOrderingServiceServer(r, s)
	catalogv1.RegisterCurrenciesServiceServer(r, s)
	catalogv1.RegisterSelectionsServiceServer(r, s)
	catalogv1.RegisterBrandLogosServiceServer(r, s)
	catalogv1.RegisterImportServiceServer(r, s)
	catalogv1.RegisterCatalogOperationsServiceServer(r, s)
	catalogv1.RegisterProductOperationsServiceServer(r, s)
	catalogv1.RegisterCampaignOperationsServiceServer(r, s)
}

// Collectors are the RPCs that report the violations found by the edge together with their own.
func Collectors() []string {
	return []string{
		catalogv1.CatalogService_ListProducts_FullMethodName,
		catalogv1.CatalogService_GetProduct_FullMethodName,
		catalogv1.CatalogService_ListCategories_FullMethodName,
		catalogv1.CatalogService_ListCampaigns_FullMethodName,
		catalogv1.CatalogService_GetCampaign_FullMethodName,
		catalogv1.SandboxCatalogService_SetSandboxStock_FullMethodName,
		catalogv1.SandboxCatalogService_UnlistSandboxProduct_FullMethodName,
		catalogv1.SandboxCatalogService_RelistSandboxProduct_FullMethodName,
		catalogv1.SandboxCatalogService_SetSandboxProductAvailable_FullMethodName,
	}
}

// changesGifts refuses a change of what all tenants share, outside of the first cell: the other cells get it from there.
func (s *service) changesGifts() error {
	if s.cell.String() == identity.HomeCell {
		return nil
	}
	return problem.New(problem.NotEditable, "Gifts, categories, regions and rates are changed in cell %s.", identity.HomeCell)
}

// keyAndTenant returns the calling key and its tenant, in the version that the edge saw or a newer one.
func (s *service) keyAndTenant(ctx context.Context) (caller.Principal, *tenantsv1.Tenant, error) {
	p, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return caller.Principal{}, nil, err
	}
	found, err := s.tenants.Get(ctx, p.TenantID, p.TenantVersion)
	if err != nil {
		return caller.Principal{}, nil, err
	}
	return p, found.GetTenant(), nil
}
