// Package server implements the gRPC methods of the catalog. Each method reads its request, applies the rules, uses the store
// and writes the response.
package server

import (
	"context"
	"time"

	"google.golang.org/grpc"

	"github.com/partnergifting/platform/pkg/caller"
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
}

// Register adds all services of the catalog to a gRPC server.
func Register(s grpc.ServiceRegistrar, deps Deps, cfg Config) {
	present := newPresenter(cfg.PublicURL)
	public := &publicCatalog{store: deps.Store, tenants: tenants.NewCache(deps.Directory), present: present}
	catalogv1.RegisterCatalogServiceServer(s, public)
	if cfg.Sandbox {
		catalogv1.RegisterSandboxCatalogServiceServer(s, &sandbox{publicCatalog: public})
	}
	catalogv1.RegisterImagesServiceServer(s, &imageServer{store: deps.Store, files: deps.Files})
	catalogv1.RegisterOrderingServiceServer(s, &ordering{store: deps.Store, ttl: cfg.ReservationTTL, present: present})
	catalogv1.RegisterCurrenciesServiceServer(s, &currencies{store: deps.Store})
	catalogv1.RegisterSelectionsServiceServer(s, &selections{store: deps.Store, present: present})
	catalogv1.RegisterBrandLogosServiceServer(s, &brandLogos{Deps: deps, present: present})
	catalogv1.RegisterImportServiceServer(s, &imports{store: deps.Store})
	catalogv1.RegisterCatalogOperationsServiceServer(s, &operations{Deps: deps})
	catalogv1.RegisterProductOperationsServiceServer(s, &productOperations{store: deps.Store})
	catalogv1.RegisterCampaignOperationsServiceServer(s, &campaignOperations{store: deps.Store})
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

// publicCatalog is the public plane.
type publicCatalog struct {
	catalogv1.UnimplementedCatalogServiceServer

	store   *store.Store
	tenants *tenants.Cache
	present presenter
}

// imageServer returns the bytes of images to the gateway.
type imageServer struct {
	catalogv1.UnimplementedImagesServiceServer

	store *store.Store
	files *images.Files
}

// ordering serves the services that place orders.
type ordering struct {
	catalogv1.UnimplementedOrderingServiceServer

	store   *store.Store
	ttl     time.Duration
	present presenter
}

// selections serves the service for personal links.
type selections struct {
	catalogv1.UnimplementedSelectionsServiceServer

	store   *store.Store
	present presenter
}

// brandLogos stores the logos of brands.
type brandLogos struct {
	catalogv1.UnimplementedBrandLogosServiceServer
	Deps

	present presenter
}

// imports puts many gifts in one call.
type imports struct {
	catalogv1.UnimplementedImportServiceServer

	store *store.Store
}

// operations is the operations plane for whole records.
type operations struct {
	catalogv1.UnimplementedCatalogOperationsServiceServer
	Deps
}

// productOperations is the operations plane for single gifts.
type productOperations struct {
	catalogv1.UnimplementedProductOperationsServiceServer

	store *store.Store
}

// campaignOperations is the operations plane for campaigns.
type campaignOperations struct {
	catalogv1.UnimplementedCampaignOperationsServiceServer

	store *store.Store
}

// settings returns the calling key and its tenant, in the version that the edge saw or a newer one.
func (c *publicCatalog) settings(ctx context.Context) (caller.Principal, *tenantsv1.Tenant, error) {
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
