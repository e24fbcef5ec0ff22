// Package server answers the gRPC calls of the tenants service: the public plane for API keys, the
// directory for the other services and the operations plane for people and systems of ours.
package server

import (
	"github.com/partnergifting/platform/pkg/apikey"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// Public is the public plane: what a key may read of itself and its tenant.
type Public struct {
	tenantsv1.UnimplementedTenantsServiceServer

	store       *store.Store
	environment apikey.Environment
}

// NewPublic makes the public plane of the environment.
func NewPublic(s *store.Store, env apikey.Environment) *Public {
	return &Public{store: s, environment: env}
}
