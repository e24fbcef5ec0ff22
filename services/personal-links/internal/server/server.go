// Package server answers the gRPC calls of the personal-links service.
package server

import (
	"time"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenantcache"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/claims"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Public is the public plane of personal links.
type Public struct {
	linksv1.UnimplementedPersonalLinksServiceServer

	Store   *store.Store
	Ring    *seal.Ring
	Tenants *tenantcache.Cache
	Catalog catalogv1.SelectionsServiceClient
	Claims  *claims.Saga
	// ClaimURL is the address in front of a token.
	ClaimURL string
	Clock    func() time.Time
}

// Collectors are the methods that report the edge's field faults together with their own.
func Collectors() []string {
	return []string{
		linksv1.PersonalLinksService_ListPersonalLinks_FullMethodName,
		linksv1.PersonalLinksService_CreatePersonalLinks_FullMethodName,
		linksv1.PersonalLinksService_CancelPersonalLink_FullMethodName,
	}
}
