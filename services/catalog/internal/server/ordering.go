package server

import (
	"time"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// Ordering answers the services that place orders.
type Ordering struct {
	catalogv1.UnimplementedOrderingServiceServer

	store *store.Store
	ttl   time.Duration
}

// NewOrdering makes the service. ttl is how long a reservation waits for its order.
func NewOrdering(st *store.Store, ttl time.Duration) *Ordering {
	return &Ordering{store: st, ttl: ttl}
}
