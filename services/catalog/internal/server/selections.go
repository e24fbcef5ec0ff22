package server

import (
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// Selections answers the service that owns personal links.
type Selections struct {
	catalogv1.UnimplementedSelectionsServiceServer

	store   *store.Store
	present presenter
}

// NewSelections makes the service. publicURL is the base address image URLs start with.
func NewSelections(st *store.Store, publicURL string) *Selections {
	return &Selections{store: st, present: newPresenter(publicURL)}
}
