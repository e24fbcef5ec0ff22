// Package claims turns a personal link into an order, exactly one per link, whatever crashes or
// repeats.
//
// A claim marks its link with the id of the order to be, places the order under that id in orders,
// and then ends the link with it. What a crash leaves behind is a mark, and a mark is settled by
// asking orders: AbandonClaimedOrder answers the order that was placed, or makes sure that it never
// will be. So a mark is settled by anybody, any number of times, to the same end. An id is used for
// one mark only.
package claims

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
)

// Links is what the saga needs of the store. Every step is one transaction.
type Links interface {
	Get(ctx context.Context, tenantID, id string) (*rules.Link, error)
	Mark(ctx context.Context, tenantID, id, orderID string, lease time.Duration) (*rules.Link, error)
	Finish(ctx context.Context, tenantID, id, orderID string, now time.Time) (*rules.Link, error)
	Clear(ctx context.Context, tenantID, id, orderID string) (*rules.Link, error)
	TakeStale(ctx context.Context, lease time.Duration, limit int) ([]*rules.Link, error)
}

const (
	// DefaultLease is longer than a claim may take, so that recovery does not disturb it. Nothing but
	// that depends on it.
	DefaultLease = 15 * time.Second
	claimTimeout = 10 * time.Second
	// A claim that meets another's mark looks again this often, for at most this long.
	lookAgain   = 50 * time.Millisecond
	waitAtMost  = 3 * time.Second
	maxAttempts = 3
)

// Saga claims links. It is safe for concurrent use, by several instances too.
type Saga struct {
	Links  Links
	Orders ordersv1.ClaimsServiceClient
	Lease  time.Duration
	Clock  func() time.Time
	Log    *slog.Logger
	// Woken is told when a claim has been ended outside of a call, so that its event goes out at once.
	Woken func()
}

// Result of a claim: the link, and the order if this claim placed it.
type Result struct {
	Link  *rules.Link
	Order *ordersv1.Order
}

// Claim places the order that request describes for the link and ends the link with it. The request
// says everything of the order but its id. A link that cannot be claimed any more is given as it
// is; a problem of orders leaves it open.
func (s *Saga) Claim(ctx context.Context, link *rules.Link, request *ordersv1.PlaceClaimedOrderRequest) (Result, error) {
	// The player's browser may go away; what was begun is ended all the same.
	detached, cancel := context.WithTimeout(context.WithoutCancel(ctx), claimTimeout)
	defer cancel()
	for range maxAttempts {
		var err error
		if link, err = s.unmarked(ctx, link); err != nil || link.Record.GetStatus() != rules.Active {
			return Result{Link: link}, err
		}
		orderID := uuid.Must(uuid.NewV7()).String()
		link, err = s.Links.Mark(detached, link.TenantID, link.Record.GetId(), orderID, s.Lease)
		if err != nil {
			return Result{}, err
		}
		if link.ClaimOrderID == nil || *link.ClaimOrderID != orderID {
			continue // Another claim, or the end of the link, came first.
		}
		result, err := s.place(detached, link, orderID, request)
		if err != nil || result.Order != nil {
			return result, err
		}
		link = result.Link // Somebody settled the mark meanwhile.
	}
	return Result{}, problem.Unavailable()
}

// place places the order of a marked link. Without order and error the claim was abandoned.
func (s *Saga) place(
	ctx context.Context, link *rules.Link, orderID string, request *ordersv1.PlaceClaimedOrderRequest,
) (Result, error) {
	request.OrderId = orderID
	placed, err := s.Orders.PlaceClaimedOrder(ctx, request)
	if err != nil {
		return s.unplaced(ctx, link, err)
	}
	if placed.GetOrder() == nil {
		link, err = s.Links.Get(ctx, link.TenantID, link.Record.GetId())
		return Result{Link: link}, err
	}
	return s.finish(ctx, link, orderID, placed.GetOrder())
}

// finish ends the link. Until that is committed the claim is not answered as won, for what is requested after such an
// answer must stand behind it in the feed. Recovery meets a fault of ours, and the player who asks again learns of it.
func (s *Saga) finish(ctx context.Context, link *rules.Link, orderID string, order *ordersv1.Order) (Result, error) {
	finished, err := s.Links.Finish(ctx, link.TenantID, link.Record.GetId(), orderID, s.Clock())
	if err != nil {
		s.Log.WarnContext(ctx, "claim is left to recovery", "link_id", link.Record.GetId(), "error", err)
		return Result{}, problem.Unavailable()
	}
	return Result{Link: finished, Order: order}, nil
}

// unplaced settles the mark after a fault of orders. If the order was placed in spite of it, the
// claim has succeeded.
func (s *Saga) unplaced(ctx context.Context, link *rules.Link, fault error) (Result, error) {
	settled, order, err := s.settle(ctx, link)
	if err != nil {
		s.Log.WarnContext(ctx, "claim is left to recovery", "link_id", link.Record.GetId(), "error", err)
		return Result{}, refusal(fault)
	}
	if order != nil {
		return Result{Link: settled, Order: order}, nil
	}
	return Result{}, refusal(fault)
}

// refusal is what the player is told: the refusal of orders, or that it is not available.
func refusal(fault error) error {
	p, ok := problem.As(fault)
	if !ok || p.Code == problem.InternalError {
		return problem.Unavailable()
	}
	return p
}
