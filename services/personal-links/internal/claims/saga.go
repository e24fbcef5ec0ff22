// Package claims turns a personal link into exactly one order, despite crashes and repetitions.
//
// A claim locks its link with the id of the future order, places the order under that id, and then marks the link as claimed.
// After a crash the claim lock remains. To reconcile it, the service calls AbandonClaimedOrder of orders, which returns the
// placed order or ensures that it is never placed. So any instance may reconcile a claim, any number of times, with the same
// result. An order id is used for one claim only.
//
// Orders accepts one order per link. After the links were restored from a backup, a claimed link may be open again. Its next
// claim then gets the order of the first one, and the link is claimed with that order.
package claims

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// Links are the methods of the store that the saga uses. Each method is one transaction.
type Links interface {
	Get(ctx context.Context, tenantID, id string) (*rules.Link, error)
	LockClaim(ctx context.Context, tenantID, id, orderID string, lease time.Duration) (*rules.Link, error)
	// FinishClaim reports whether the claim held the lock, so that it changed the link.
	FinishClaim(
		ctx context.Context, tenantID, id, claimID string, o rules.ClaimOutcome, now time.Time,
	) (link *rules.Link, finished bool, err error)
	UnlockClaim(ctx context.Context, tenantID, id, orderID string) (*rules.Link, error)
	TakeExpiredClaims(ctx context.Context, lease time.Duration, limit int) ([]*rules.Link, error)
}

const (
	defaultLease = 15 * time.Second
	claimTimeout = 10 * time.Second
	// How often, and for how long, a claim waits for the lock of another one.
	pollInterval = 50 * time.Millisecond
	maxWait      = 3 * time.Second
	maxAttempts  = 3
)

// Deps are what a saga works with.
type Deps struct {
	Links  Links
	Orders ordersv1.ClaimsServiceClient
	Clock  func() time.Time
	Log    *slog.Logger
	// Wake is called when a claim was finished outside of a call, so that its event is published immediately.
	Wake func()
	// LostClaim is called when a link had lost its claim and has got its order back.
	LostClaim func(ctx context.Context)
	// Lease of a claim lock; 0: 15 seconds. It is longer than a claim may take, so that other instances do not reconcile a running
	// claim. Correctness does not depend on it.
	Lease time.Duration
}

// Saga claims links. It is safe for concurrent use, by several instances too.
type Saga struct {
	deps Deps
}

// New makes a saga.
func New(deps Deps) *Saga {
	deps.Lease = cmp.Or(deps.Lease, defaultLease)
	return &Saga{deps: deps}
}

// Result of a claim: the link, and the order if this claim placed it.
type Result struct {
	Link  *rules.Link
	Order *ordersv1.Order
}

// FinishClaim marks a locked link as claimed, as Links.FinishClaim does.
type FinishClaim func(
	ctx context.Context, tenantID, id, claimID string, o rules.ClaimOutcome, now time.Time,
) (link *rules.Link, finished bool, err error)

// ClaimOptions are what differs between the callers of ClaimAs.
type ClaimOptions struct {
	// OrderID makes the id of an order. An id is used for one claim only.
	OrderID func() string
	// Finish ends the claim, unless another instance does so after a crash. Nil: Links.FinishClaim does.
	Finish FinishClaim
}

// Claim places the order for the link and marks the link as claimed. The request describes the order without its id. A link
// that can no longer be claimed is returned unchanged. If orders refuses the order, the link stays open.
func (s *Saga) Claim(ctx context.Context, link *rules.Link, request *ordersv1.PlaceClaimedOrderRequest) (Result, error) {
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	return s.ClaimAs(ctx, ClaimOptions{OrderID: newID}, link, request)
}

// ClaimAs is Claim with the options.
func (s *Saga) ClaimAs(
	ctx context.Context, opts ClaimOptions, link *rules.Link, request *ordersv1.PlaceClaimedOrderRequest,
) (Result, error) {
	if opts.Finish == nil {
		opts.Finish = s.deps.Links.FinishClaim
	}
	// The claim continues if the player's browser disconnects.
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	for range maxAttempts {
		var err error
		if link, err = s.waitUnlocked(ctx, link); err != nil || link.Record.GetStatus() != rules.Active {
			return Result{Link: link}, err
		}
		orderID := opts.OrderID()
		link, err = s.deps.Links.LockClaim(detached, link.TenantID, link.Record.GetId(), orderID, s.deps.Lease)
		if err != nil {
			return Result{}, err
		}
		if link.ClaimOrderID == nil || *link.ClaimOrderID != orderID {
			continue // Another claim or a cancellation was first.
		}
		result, err := s.place(detached, opts, link, orderID, request)
		if err != nil || result.Order != nil {
			return result, err
		}
		link = result.Link // The claim was abandoned meanwhile.
	}
	return Result{}, problem.Unavailable()
}

// place places the order of a locked link. If both order and error are nil, the link has the order of an earlier claim, or the
// claim was abandoned.
func (s *Saga) place(
	ctx context.Context, opts ClaimOptions, link *rules.Link, orderID string, request *ordersv1.PlaceClaimedOrderRequest,
) (Result, error) {
	request.OrderId = orderID
	placed, err := s.deps.Orders.PlaceClaimedOrder(ctx, request)
	if err != nil {
		return s.reconcileFailed(ctx, opts, link, err)
	}
	if placed.GetOrder() == nil {
		link, err = s.deps.Links.Get(ctx, link.TenantID, link.Record.GetId())
		return Result{Link: link}, err
	}
	// The response is sent only after this commit, so that the events of later requests follow the claim's event in the feed.
	result, err := s.finish(ctx, opts.Finish, link, placed.GetOrder())
	if err != nil {
		s.logUnfinished(ctx, link, err)
		return Result{}, problem.Unavailable()
	}
	return result, nil
}

// finish marks the locked link as claimed with the order. The order is in the result only if this claim placed it. The link stays
// open if it has lost the lock, as after a restore: the next claim finds the order.
func (s *Saga) finish(
	ctx context.Context, finish FinishClaim, link *rules.Link, order *ordersv1.Order,
) (result Result, err error) {
	claimID, outcome := *link.ClaimOrderID, rules.ClaimOutcome{OrderID: order.GetId()}
	if order.GetId() != claimID {
		outcome.PlacedAt = order.GetCreatedAt().AsTime()
	}
	var finished bool
	result.Link, finished, err = finish(ctx, link.TenantID, link.Record.GetId(), claimID, outcome, s.deps.Clock())
	switch {
	case err != nil:
	case order.GetId() != claimID && finished:
		s.deps.LostClaim(ctx)
		s.deps.Log.WarnContext(ctx, "the link has lost its claim and gets its order back",
			"link_id", link.Record.GetId(), "order_id", order.GetId())
	case order.GetId() == claimID && result.Link.Record.GetStatus() == rules.Claimed:
		result.Order = order
	}
	return result, err
}

// reconcileFailed reconciles the claim after an error of orders. If the order was placed despite the error, the claim succeeds.
func (s *Saga) reconcileFailed(ctx context.Context, opts ClaimOptions, link *rules.Link, cause error) (Result, error) {
	result, err := s.reconcile(ctx, opts.Finish, link)
	if err != nil {
		s.logUnfinished(ctx, link, err)
	} else if result.Link.Record.GetStatus() == rules.Claimed {
		return result, nil
	}
	// The player sees a problem of orders, but not the cause of a failure.
	if p, ok := problem.As(cause); ok && p.Code != problem.InternalError {
		return Result{}, p
	}
	return Result{}, problem.Unavailable()
}

// logUnfinished reports a claim that ReconcileExpired will end. A player who tries again gets its outcome.
func (s *Saga) logUnfinished(ctx context.Context, link *rules.Link, err error) {
	s.deps.Log.WarnContext(ctx, "cannot finish a claim, it is reconciled later", "link_id", link.Record.GetId(), "error", err)
}
