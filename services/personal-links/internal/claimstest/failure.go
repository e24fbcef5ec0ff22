package claimstest

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// ErrBroken is what a step returns at the point of a failure.
var ErrBroken = errors.New("broken")

// Failure breaks one instance at one point: before or after the effect of one of its steps.
type Failure struct {
	// At is how many points the instance still passes before it fails; a negative number means that it never fails.
	At int
	// Crash means that every later call fails too, not only one.
	Crash bool
	// Reached means that the instance has failed.
	Reached bool

	mu   sync.Mutex
	dead bool
}

// failsAtNextPoint passes a point and reports whether the instance fails there.
func (f *Failure) failsAtNextPoint() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.dead {
		return true
	}
	f.At--
	if f.At != -1 {
		return false
	}
	f.Reached, f.dead = true, f.Crash
	return true
}

func step[T any](f *Failure, effect func() (T, error)) (none T, _ error) {
	if f.failsAtNextPoint() {
		return none, ErrBroken
	}
	out, err := effect()
	if f.failsAtNextPoint() {
		return none, ErrBroken
	}
	return out, err
}

// FailingLinks is the store of an instance that fails.
type FailingLinks struct {
	*store.Store
	Failure *Failure
}

// Get implements claims.Links.
func (l FailingLinks) Get(ctx context.Context, tenantID, id string) (*rules.Link, error) {
	return step(l.Failure, func() (*rules.Link, error) { return l.Store.Get(ctx, tenantID, id) })
}

// LockClaim implements claims.Links.
func (l FailingLinks) LockClaim(ctx context.Context, tenantID, id, orderID string, lease time.Duration) (*rules.Link, error) {
	return step(l.Failure, func() (*rules.Link, error) { return l.Store.LockClaim(ctx, tenantID, id, orderID, lease) })
}

// FinishClaim implements claims.Links.
func (l FailingLinks) FinishClaim(
	ctx context.Context, tenantID, id, claimID string, o rules.ClaimOutcome, now time.Time,
) (link *rules.Link, finished bool, err error) {
	link, err = step(l.Failure, func() (link *rules.Link, err error) {
		link, finished, err = l.Store.FinishClaim(ctx, tenantID, id, claimID, o, now)
		return link, err
	})
	return link, finished, err
}

// UnlockClaim implements claims.Links.
func (l FailingLinks) UnlockClaim(ctx context.Context, tenantID, id, orderID string) (*rules.Link, error) {
	return step(l.Failure, func() (*rules.Link, error) { return l.Store.UnlockClaim(ctx, tenantID, id, orderID) })
}

// TakeExpiredClaims implements claims.Links.
func (l FailingLinks) TakeExpiredClaims(ctx context.Context, lease time.Duration, limit int) ([]*rules.Link, error) {
	return step(l.Failure, func() ([]*rules.Link, error) { return l.Store.TakeExpiredClaims(ctx, lease, limit) })
}

// FailingOrders is the orders service as an instance that fails calls it.
type FailingOrders struct {
	*Orders
	Failure *Failure
}

// PlaceClaimedOrder implements ClaimsServiceClient.
func (o FailingOrders) PlaceClaimedOrder(
	ctx context.Context, r *ordersv1.PlaceClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.PlaceClaimedOrderResponse, error) {
	return step(o.Failure, func() (*ordersv1.PlaceClaimedOrderResponse, error) { return o.Orders.PlaceClaimedOrder(ctx, r) })
}

// AbandonClaimedOrder implements ClaimsServiceClient.
func (o FailingOrders) AbandonClaimedOrder(
	ctx context.Context, r *ordersv1.AbandonClaimedOrderRequest, _ ...grpc.CallOption,
) (*ordersv1.AbandonClaimedOrderResponse, error) {
	return step(o.Failure, func() (*ordersv1.AbandonClaimedOrderResponse, error) { return o.Orders.AbandonClaimedOrder(ctx, r) })
}
