package rpc

import (
	"github.com/partnergifting/platform/pkg/identity"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// grant is what a caller may do. The zero value may ask for health, as everybody may who has a certificate.
type grant struct {
	services set
	// principal: it is the edge, which has authenticated an API key, and says which and what it knows
	// of the request. From any other caller it is forged.
	principal bool
	// actors are the kinds of people it has authenticated, and therefore may act for.
	actors []commonv1.ActorKind
}

// callers is the whole list of who may call what. A service that is not in it is nobody's.
var callers = map[identity.Name]grant{
	identity.Gateway: {principal: true, services: services(
		"gifting.tenants.v1.TenantsService",
		"gifting.tenants.v1.DirectoryService",
		"gifting.catalog.v1.CatalogService",
		"gifting.catalog.v1.ImagesService",
		"gifting.orders.v1.OrdersService",
		"gifting.common.v1.IdempotencyRegisterService",
		"gifting.personallinks.v1.PersonalLinksService",
		"gifting.personallinks.v1.GiftSiteService",
		"gifting.events.v1.EventsService",
		"gifting.webhook.v1.WebhookService",
	)},

	// The services, which ask each other. Tenants and events ask nobody.
	identity.Tenants: {},
	identity.Catalog: {services: services(
		"gifting.tenants.v1.DirectoryService",
	)},
	identity.Orders: {services: services(
		"gifting.tenants.v1.DirectoryService",
		"gifting.catalog.v1.OrderingService",
	)},
	identity.PersonalLinks: {services: services(
		"gifting.tenants.v1.DirectoryService",
		"gifting.catalog.v1.SelectionsService",
		"gifting.orders.v1.ClaimsService",
	)},
	identity.Events: {},
	identity.Webhook: {services: services(
		"gifting.tenants.v1.DirectoryService",
	)},

	// The people, each kind in a system of its own.
	identity.Workspace: {
		actors: []commonv1.ActorKind{
			commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT,
		},
		services: services(
			"gifting.tenants.v1.TenantOperationsService",
			"gifting.orders.v1.OrderOperationsService",
			"gifting.personallinks.v1.PersonalLinkOperationsService",
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
			"gifting.catalog.v1.CatalogOperationsService",
			"gifting.catalog.v1.ProductOperationsService",
			"gifting.catalog.v1.CampaignOperationsService",
			"gifting.catalog.v1.BrandLogosService",
			"gifting.orders.v1.OrderOperationsService",
			"gifting.personallinks.v1.PersonalLinkOperationsService",
			"gifting.webhook.v1.WebhookOperationsService",
			reflectionV1, reflectionV1Alpha,
		),
	},
	// Who keeps the platform running fills its catalog and looks after deliveries, and has no part in
	// orders and links, which are full of people's details.
	identity.Operator: {
		actors: []commonv1.ActorKind{
			commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, commonv1.ActorKind_ACTOR_KIND_SYSTEM,
		},
		services: services(
			"gifting.tenants.v1.TenantOperationsService",
			"gifting.catalog.v1.CatalogOperationsService",
			"gifting.catalog.v1.ProductOperationsService",
			"gifting.catalog.v1.CampaignOperationsService",
			"gifting.catalog.v1.BrandLogosService",
			"gifting.catalog.v1.ImportService",
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
