package privacy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	// callerTimeout bounds the attempt of a caller, who gets the state of the erasure before the deadline of its call.
	callerTimeout = 10 * time.Second
	// retryAfter is when the worker takes an erasure over from its caller, and tries again.
	retryAfter = time.Minute
	// attemptTimeout is for a large tenant: all its stored answers and events are read. No other instance tries meanwhile, also if
	// this one dies.
	attemptTimeout = 15 * time.Minute
	// maxAttempts bounds what a run of the worker does before it reports its failures.
	maxAttempts = 20
)

// Deps are what a coordinator works with.
type Deps struct {
	Store         *store.Store
	Orders, Links privacyv1.PersonalDataServiceClient
	// Events are the services that store the events of orders and links: first the feed, then the webhook service.
	Events []privacyv1.RecordEventsServiceClient
	// Backups is how long backups are kept.
	Backups time.Duration
	// Ring makes the fingerprint of a person, and seals the recipient of a pending erasure.
	Ring *seal.Ring
	Log  *slog.Logger
	Now  func() time.Time
}

// Coordinator erases and exports. It is safe for concurrent use, by several instances too.
type Coordinator struct {
	deps Deps
}

// New makes a coordinator.
func New(deps Deps) *Coordinator { return &Coordinator{deps: deps} }

// inCellOf makes calls go to the cell of the tenant. If the tenant moves meanwhile, its old cell refuses changes, and a later
// attempt makes them in the new one.
func (c *Coordinator) inCellOf(ctx context.Context, tenantID string) (context.Context, error) {
	cell, err := c.deps.Store.CellOf(ctx, tenantID)
	return caller.InCell(ctx, cell), err
}

// stillIn fails if the tenant is in another cell than that of the calls, whose answers may then be about an emptied one.
func (c *Coordinator) stillIn(ctx context.Context, tenantID string) error {
	cell, err := c.deps.Store.CellOf(ctx, tenantID)
	if err == nil && cell != caller.CellOf(ctx) {
		err = fmt.Errorf("the tenant has moved to another cell: %w", problem.Unavailable())
	}
	return err
}

// Erase erases what is stored about a person, or continues the request with the id. The request may still be pending.
func (c *Coordinator) Erase(ctx context.Context, s Subject, requestID string, by store.Authorization) (store.PersonRequest, error) {
	ctx, err := c.inCellOf(ctx, s.TenantID)
	if err != nil {
		return store.PersonRequest{}, err
	}
	r, err := c.deps.Store.PersonRequest(ctx, s.TenantID, requestID)
	if errors.Is(err, store.ErrNotFound) {
		r, err = c.record(ctx, s, requestID, by)
	}
	if err != nil {
		return r, err
	}
	if r.Action == store.ErasePerson && !c.deps.Ring.HasKeyOf(r.SubjectMAC) {
		return r, problem.New(problem.IdempotencyKeyReused,
			"This requestId was used before its seal key was removed, so it cannot be compared. Use another requestId.")
	}
	if r.Action != store.ErasePerson || !c.deps.Ring.MatchesMAC(r.SubjectMAC, s.text()) {
		return r, problem.New(problem.IdempotencyKeyReused, "This requestId was used before for another person.")
	}
	if r.CompletedAt != nil {
		return r, nil
	}
	var recipient string
	if s.Kind == ExternalRecipient {
		recipient = s.ID
	}
	if err := c.attemptWithin(ctx, callerTimeout, r, recipient); err != nil {
		c.deps.Log.WarnContext(ctx, "an erasure is pending and will be tried again", "request_id", r.ID, "error", err)
	}
	return c.deps.Store.PersonRequest(ctx, s.TenantID, requestID)
}

// text is the subject without ambiguity. Its tenant is in it, so that equal persons of two tenants have different fingerprints.
func (s Subject) text() string { return s.TenantID + "\n" + s.Kind + "\n" + s.ID }

// record finds the person's records and commits the request, with the check that the actor may make it: finding takes calls of
// other services, in which the actor can lose the permission. Of two concurrent calls with one id, the first counts.
func (c *Coordinator) record(
	ctx context.Context, s Subject, requestID string, by store.Authorization,
) (r store.PersonRequest, err error) {
	f, err := c.findRecords(ctx, s)
	if err == nil {
		err = f.refuseInFlight()
	}
	if err == nil {
		err = c.stillIn(ctx, s.TenantID)
	}
	if err == nil {
		r = c.request(s, requestID, store.ErasePerson, f)
		if s.Kind == ExternalRecipient {
			r.RecipientSealed = c.deps.Ring.Seal([]byte(s.ID), store.RecipientData(requestID))
		}
		err = c.deps.Store.RecordPersonRequest(ctx, by, r, retryAfter)
	}
	if err != nil {
		return r, err
	}
	return c.deps.Store.PersonRequest(ctx, s.TenantID, requestID)
}

func (c *Coordinator) request(s Subject, id, action string, f personRecords) store.PersonRequest {
	return store.PersonRequest{
		TenantID: s.TenantID, ID: id, Action: action, SubjectKind: s.Kind, SubjectMAC: c.deps.Ring.MAC(s.text()),
		LinkIDs: f.links, OrderIDs: f.orders,
	}
}

// recipientOf is the recipient that a request keeps; empty: none, because the subject is a record or the links are erased.
func (c *Coordinator) recipientOf(r store.PersonRequest) (string, error) {
	if len(r.RecipientSealed) == 0 {
		return "", nil
	}
	plain, err := c.deps.Ring.Open(r.RecipientSealed, store.RecipientData(r.ID))
	return string(plain), err
}

func (c *Coordinator) attemptWithin(ctx context.Context, limit time.Duration, r store.PersonRequest, recipient string) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return c.attempt(ctx, r, recipient)
}

// attempt does what is left of an erasure. The recipient is empty if the subject is a record.
func (c *Coordinator) attempt(ctx context.Context, r store.PersonRequest, recipient string) error {
	by := &commonv1.Actor{Kind: r.ActorKind, Id: r.ActorID}
	orderIDs := r.OrderIDs
	if r.LinksErasedAt == nil {
		erased, err := c.deps.Links.ErasePersonRecords(ctx, &privacyv1.ErasePersonRecordsRequest{
			TenantId: r.TenantID, RequestedBy: by, RecordIds: r.LinkIDs, KeyIds: r.KeyIDs, ExternalRecipientId: &recipient,
		})
		if err != nil {
			return fmt.Errorf("erase links: %w", err)
		}
		var placed []string
		for _, link := range erased.GetRecords() {
			placed = addID(placed, link.GetOrderId())
			orderIDs = addID(orderIDs, link.GetOrderId())
		}
		if err := c.stillIn(ctx, r.TenantID); err != nil {
			return err
		}
		if err := c.deps.Store.LinksErased(ctx, r.TenantID, r.ID, placed); err != nil {
			return err
		}
	}
	// With the orders of claims they may be more than a call can name. Each attempt erases them again, because a message may have been
	// posted since, or an order been added.
	for ids := range slices.Chunk(orderIDs, maxRecords) {
		_, err := c.deps.Orders.ErasePersonRecords(ctx, &privacyv1.ErasePersonRecordsRequest{
			TenantId: r.TenantID, RequestedBy: by, RecordIds: ids, KeyIds: r.KeyIDs,
		})
		if err != nil {
			return fmt.Errorf("erase orders: %w", err)
		}
	}
	if err := c.stillIn(ctx, r.TenantID); err != nil {
		return err
	}
	if err := c.deps.Store.OrdersErased(ctx, r.TenantID, r.ID); err != nil {
		return err
	}
	return c.eraseEvents(ctx, r, orderIDs)
}

// ContinuePending continues erasures that are due, one after the other. One that fails does not block the others.
func (c *Coordinator) ContinuePending(ctx context.Context) error {
	var failed []error
	for range maxAttempts {
		pending, err := c.deps.Store.TakePendingErasures(ctx, attemptTimeout+retryAfter, 1)
		if err != nil || len(pending) == 0 {
			return errors.Join(append(failed, err)...)
		}
		r := pending[0]
		if err := c.continueOne(ctx, r); err != nil {
			failed = append(failed, fmt.Errorf("erasure %s: %w", r.ID, err))
		}
		if err := c.deps.Store.RetryErasure(context.WithoutCancel(ctx), r.TenantID, r.ID, retryAfter); err != nil {
			return errors.Join(append(failed, err)...)
		}
	}
	return errors.Join(failed...)
}

func (c *Coordinator) continueOne(ctx context.Context, r store.PersonRequest) error {
	ctx, err := c.inCellOf(ctx, r.TenantID)
	if err != nil {
		return err
	}
	recipient, err := c.recipientOf(r)
	if err != nil {
		return err
	}
	err = c.attemptWithin(ctx, attemptTimeout, r, recipient)
	if problem.Is(err, problem.NotEditable) {
		c.deps.Log.InfoContext(ctx, "an erasure waits for an order in flight", "request_id", r.ID, "error", err)
		return nil // Nothing failed. A metric shows how long it waits.
	}
	if errors.Is(err, errEvents) {
		c.deps.Log.InfoContext(ctx, "an erasure waits for events of the person", "request_id", r.ID, "error", err)
		return nil // Nothing failed here either.
	}
	return err
}

const (
	// eventsWait is how long each step of an attempt waits: for events to be stored, which takes some seconds, and for deliveries that
	// are being sent. A call may take longer, because the feed reads all events of a tenant.
	eventsWait = 10 * time.Second
	eventsPoll = 100 * time.Millisecond
)

var errEvents = errors.New("events are on their way")

// eraseEvents erases the events of the records, once all of them are stored: one that is stored later would have what was erased.
// The records are erased, so a later event of theirs has nothing of it. Then the erasure is complete.
func (c *Coordinator) eraseEvents(ctx context.Context, r store.PersonRequest, orderIDs []string) error {
	remainders := map[string]time.Duration{"backups": c.deps.Backups}
	for links := range slices.Chunk(r.LinkIDs, maxRecords) {
		if err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
			resp, err := c.deps.Links.FindPersonRecords(ctx, &privacyv1.FindPersonRecordsRequest{
				TenantId: r.TenantID, PersonalLinkIds: links,
			})
			return resp.GetUnpublished() == 0, err
		}); err != nil {
			return fmt.Errorf("events of links: %w", err)
		}
	}
	for orders := range slices.Chunk(orderIDs, maxRecords) {
		if err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
			resp, err := c.deps.Orders.FindPersonRecords(ctx, &privacyv1.FindPersonRecordsRequest{
				TenantId: r.TenantID, OrderIds: orders,
			})
			return resp.GetUnpublished() == 0, err
		}); err != nil {
			return fmt.Errorf("events of orders: %w", err)
		}
	}
	for ids := range slices.Chunk(slices.Concat(r.LinkIDs, orderIDs), maxRecords) {
		for _, holder := range c.deps.Events {
			if err := waitUntil(ctx, func(ctx context.Context) (bool, error) {
				erased, err := holder.EraseRecordEvents(ctx, &privacyv1.EraseRecordEventsRequest{TenantId: r.TenantID, RecordIds: ids})
				for _, left := range erased.GetRemainders() {
					remainders[left.GetPlace()] = left.GetKept().AsDuration()
				}
				return erased.GetDone(), err
			}); err != nil {
				return fmt.Errorf("erase events: %w", err)
			}
		}
	}
	if err := c.stillIn(ctx, r.TenantID); err != nil {
		return err
	}
	return c.deps.Store.CompleteErasure(context.WithoutCancel(ctx), r.TenantID, r.ID, remainders)
}

// waitUntil repeats a call until it is done. The last one begins within eventsWait.
func waitUntil(ctx context.Context, call func(ctx context.Context) (done bool, err error)) error {
	begun := time.Now()
	ticker := time.NewTicker(eventsPoll)
	defer ticker.Stop()
	for {
		if done, err := call(ctx); err != nil || done {
			return err
		}
		if time.Since(begun) > eventsWait {
			return errEvents
		}
		select {
		case <-ctx.Done():
			return errEvents
		case <-ticker.C:
		}
	}
}
