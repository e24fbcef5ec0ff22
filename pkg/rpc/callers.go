package rpc

import (
	"github.com/partnergifting/platform/pkg/identity"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// grant is what a caller may do. The zero value allows only health checks, as every caller with a certificate may make.
type grant struct {
	services set
	// sendsPrincipal means that the caller is the edge, which authenticates API keys and sends the principal and the request. From
	// any other caller they are forged.
	sendsPrincipal bool
	// actors are the kinds of people that it authenticates and may therefore act for.
	actors []commonv1.ActorKind
}

// callers is the complete table of who may call what. Nobody may call a service that is not in it.
var callers = map[identity.Name]grant{
	identity.Gateway: {sendsPrincipal: true, services: services(
		"gifting.tenants.v1.TenantsService",
		"gifting.tenants.v1.DirectoryService",
		"gifting.catalog.v1.CatalogService",
		"gifting.catalog.v1.ImagesService",
		"gifting.catalog.v1.SandboxCatalogService",
		"gifting.orders.v1.OrdersService",
		"gifting.orders.v1.SandboxOrdersService",
		"gifting.common.v1.IdempotencyRegisterService",
		"gifting.personallinks.v1.PersonalLinksService",
		"gifting.personallinks.v1.GiftSiteService",
		"gifting.personallinks.v1.SandboxPersonalLinksService",
		"gifting.events.v1.EventsService",
		"gifting.events.v1.FeedNoticesService",
		"gifting.webhook.v1.WebhookService",
	)},

	// The services, which call each other.
	identity.Tenants: {services: services(
		// What is erased and exported on request.
		"gifting.privacy.v1.PersonalDataService",
		"gifting.privacy.v1.RecordEventsService",
		"gifting.privacy.v1.TenantDataService",
		// Whether a tenant's currency has a rate.
		"gifting.catalog.v1.CurrenciesService",
	)},
	identity.Catalog: {services: services(
		"gifting.tenants.v1.DirectoryService",
	)},
	identity.Orders: {services: services(
		"gifting.tenants.v1.DirectoryService",
		"gifting.catalog.v1.OrderingService",
		// The command that reconciles the orders with what other services hold.
		"gifting.personallinks.v1.ClaimRecordsService",
		"gifting.events.v1.FeedRecordsService",
	)},
	identity.PersonalLinks: {services: services(
		"gifting.tenants.v1.DirectoryService",
		"gifting.catalog.v1.SelectionsService",
		"gifting.orders.v1.ClaimsService",
	)},
	identity.Events: {services: services(
		"gifting.tenants.v1.DirectoryService",
	)},
	identity.Webhook: {services: services(
		"gifting.tenants.v1.DirectoryService",
		// The command that sends again what a restored database has lost.
		"gifting.events.v1.FeedEventsService",
	)},

	// The systems in which people work, one for each kind.
	identity.Workspace: {
		actors: []commonv1.ActorKind{
			commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT,
		},
		services: services(
			"gifting.tenants.v1.TenantOperationsService",
			"gifting.tenants.v1.PrivacyOperationsService",
			"gifting.orders.v1.OrderOperationsService",
			"gifting.personallinks.v1.PersonalLinkOperationsService",
			"gifting.giftsite.v1.GiftSiteOperationsService",
			"gifting.events.v1.EventOperationsService",
			"gifting.webhook.v1.WebhookOperationsService",
			reflectionV1, reflectionV1Alpha,
		),
	},
	identity.Backoffice: {
		actors: []commonv1.ActorKind{
			commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_SYSTEM,
		},
		services: services(
			"gifting.tenants.v1.TenantOperationsService",
			"gifting.tenants.v1.PrivacyOperationsService",
			"gifting.tenants.v1.OffboardingOperationsService",
			"gifting.tenants.v1.CellOperationsService",
			"gifting.catalog.v1.CatalogOperationsService",
			"gifting.catalog.v1.ProductOperationsService",
			"gifting.catalog.v1.CampaignOperationsService",
			"gifting.catalog.v1.BrandLogosService",
			"gifting.orders.v1.OrderOperationsService",
			"gifting.personallinks.v1.PersonalLinkOperationsService",
			"gifting.giftsite.v1.GiftSiteOperationsService",
			"gifting.events.v1.EventOperationsService",
			"gifting.webhook.v1.WebhookOperationsService",
			reflectionV1, reflectionV1Alpha,
		),
	},
	// The operator fills the catalog and looks after deliveries. It has no access to orders and links, which hold personal
	// data.
	identity.Operator: {
		actors: []commonv1.ActorKind{
			commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_SYSTEM,
		},
		services: services(
			"gifting.tenants.v1.TenantOperationsService",
			"gifting.tenants.v1.CellOperationsService",
			"gifting.catalog.v1.CatalogOperationsService",
			"gifting.catalog.v1.ProductOperationsService",
			"gifting.catalog.v1.CampaignOperationsService",
			"gifting.catalog.v1.BrandLogosService",
			"gifting.catalog.v1.ImportService",
			"gifting.giftsite.v1.GiftSiteOperationsService",
			"gifting.webhook.v1.WebhookOperationsService",
			reflectionV1, reflectionV1Alpha,
		),
	},
}

const (
	healthService     = "grpc.health.v1.Health"
	reflectionV1      = "grpc.reflection.v1.ServerReflection"
	reflectionV1Alpha = "grpc.reflection.v1alpha.ServerReflection"
)

type set map[string]bool

func services(names ...string) set {
	s := make(set, len(names))
	for _, name := range names {
		s[name] = true
	}
	return s
}
