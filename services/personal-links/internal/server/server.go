// Package server implements the gRPC methods of personal links. Each method decodes and authorizes the call, applies the rules
// and commits.
package server

import (
	"context"
	"errors"
	"time"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Server implements the gRPC services of personal links: PersonalLinksService acts for API keys, GiftSiteService for the players
// who open a link, PersonalLinkOperationsService for persons, ClaimRecordsService for orders, which compares itself with the
// links, and PersonalDataService for what a person asks for. SandboxPersonalLinksService exists only in the sandbox.
type Server struct {
	linksv1.UnimplementedPersonalLinksServiceServer
	linksv1.UnimplementedGiftSiteServiceServer
	linksv1.UnimplementedPersonalLinkOperationsServiceServer
	linksv1.UnimplementedClaimRecordsServiceServer
	linksv1.UnimplementedSandboxPersonalLinksServiceServer
	privacyv1.UnimplementedPersonalDataServiceServer

	Deps
	Config
}

// Deps are what a server works with.
type Deps struct {
	Store   *store.Store
	Ring    *seal.Ring
	Tenants *tenants.Cache
	Catalog catalogv1.SelectionsServiceClient
	Claims  *claims.Saga
	Orders  ordersv1.ClaimsServiceClient
	Clock   func() time.Time
	// WakeAuto is called when links of the sandbox may have to be claimed by themselves.
	WakeAuto func()
}

// Config of a server.
type Config struct {
	Cell identity.Cell
	// ClaimURL is the address to which a token is appended.
	ClaimURL string
	Sandbox  bool
}

// New makes a server.
func New(deps Deps, cfg Config) *Server { return &Server{Deps: deps, Config: cfg} }

// Collectors are the methods that report the edge's field errors together with their own.
func Collectors() []string {
	return []string{
		linksv1.PersonalLinksService_ListPersonalLinks_FullMethodName,
		linksv1.PersonalLinksService_CreatePersonalLinks_FullMethodName,
		linksv1.PersonalLinksService_CancelPersonalLink_FullMethodName,
		linksv1.SandboxPersonalLinksService_ApproveSandboxPersonalLink_FullMethodName,
		linksv1.SandboxPersonalLinksService_ClaimSandboxPersonalLink_FullMethodName,
	}
}

// maxReconciled bounds how many claims one change reconciles: a player may start another claim in between.
const maxReconciled = 3

// withoutClaim calls change. If the link that change returns has a claim in flight, it reconciles the claim and calls change
// again.
func (s *Server) withoutClaim(ctx context.Context, change func() (*rules.Link, error)) error {
	for range maxReconciled {
		link, err := change()
		if !errors.Is(err, rules.ErrClaimLocked) {
			return err
		}
		if _, err := s.Claims.Reconcile(ctx, link); err != nil {
			return err
		}
	}
	return problem.Unavailable()
}
