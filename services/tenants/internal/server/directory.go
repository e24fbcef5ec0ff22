package server

import (
	"log/slog"

	"github.com/partnergifting/platform/pkg/seal"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// Directory answers the other services of the platform. Every answer is fresh from the database.
type Directory struct {
	tenantsv1.UnimplementedDirectoryServiceServer

	store *store.Store
	ring  *seal.Ring
	log   *slog.Logger
}

// NewDirectory makes the directory.
func NewDirectory(s *store.Store, ring *seal.Ring, log *slog.Logger) *Directory {
	return &Directory{store: s, ring: ring, log: log}
}
