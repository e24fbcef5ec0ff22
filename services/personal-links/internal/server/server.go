// Package server answers the gRPC calls of the personal-links service.
package server

import (
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// Public is the public plane of personal links.
type Public struct {
	linksv1.UnimplementedPersonalLinksServiceServer

	store *store.Store
}

// NewPublic makes the public plane.
func NewPublic(s *store.Store) *Public { return &Public{store: s} }

// Collectors are the methods that report the edge's field faults together with their own.
func Collectors() []string {
	return []string{linksv1.PersonalLinksService_ListPersonalLinks_FullMethodName}
}
