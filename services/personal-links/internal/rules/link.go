// Package rules holds the rules of personal links: pure functions of the request, the tenant's settings and the clock.
package rules

import (
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/seal"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// The statuses of a link, by short names.
const (
	Requested = linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_REQUESTED
	Active    = linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_ACTIVE
	Claimed   = linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_CLAIMED
	Expired   = linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_EXPIRED
	Cancelled = linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_CANCELLED
)

// The events of a link.
const (
	EventCreated   = "personal_link.created"
	EventApproved  = "personal_link.approved"
	EventClaimed   = "personal_link.claimed"
	EventCancelled = "personal_link.cancelled"
)

var (
	// ErrClaimLocked means that a claim holds the link's lock. The claim must be reconciled before the link can change.
	ErrClaimLocked = errors.New("a claim of the link is in flight")
	// ErrClaimLost means that a claim no longer holds the link's lock, because it was reconciled.
	ErrClaimLost = errors.New("the claim was reconciled")
)

// Link is a personal link: the record that every channel sees, and the service's own fields.
type Link struct {
	Record     *linksv1.PersonalLink
	TenantID   string
	BatchID    string
	BatchIndex int32
	Locale     string
	ManagerID  *string
	// Details is nil once they have been erased.
	Details *Details
	// Reason of the cancellation.
	Reason *string
	// ClaimOrderID is the claim lock: the id of the order that a claim in flight places. Callers see a locked link as ACTIVE.
	ClaimOrderID *string
	// ClaimExpired means that the lease of the claim lock has ended.
	ClaimExpired bool
	// ProductIDs are the gifts of a link to a selection of the catalog. Links of a list are without them.
	ProductIDs []string
}

// Details name a person, or hold free text that may. They are stored in one sealed column.
type Details struct {
	Label   string                     `json:"label"`
	Message string                     `json:"message,omitempty"`
	Email   string                     `json:"email,omitempty"`
	Answers []fields.CustomFieldAnswer `json:"answers,omitempty"`
}

// Approve lets the player claim a link that waits for approval. changed is false if the link was already approved.
func (l *Link) Approve(now time.Time) (changed bool, err error) {
	switch l.Record.GetStatus() {
	case Active, Claimed:
		return false, nil
	case Requested:
		at := l.touch(now)
		l.Record.Status, l.Record.ApprovedAt = Active, at
		return true, nil
	default:
		return false, l.refuse(problem.NotEditable, "The link cannot be approved any more.")
	}
}

var maxReason = fields.MaxLength(&linksv1.CancelPersonalLinkRequest{}, "reason")

// CheckReason checks the reason of a cancellation.
func CheckReason(reason string, errs *fields.Errors) { errs.RequiredText("reason", reason, maxReason) }

// Cancel cancels a link that waits for approval or for its player. A cancelled link keeps its first reason.
func (l *Link) Cancel(reason string, now time.Time) (changed bool, err error) {
	switch {
	case l.Record.GetStatus() == Cancelled:
		return false, nil
	case l.ClaimOrderID != nil:
		return false, ErrClaimLocked
	case l.Record.GetStatus() == Requested || l.Record.GetStatus() == Active:
		at := l.touch(now)
		l.Record.Status, l.Record.CancelledAt, l.Reason = Cancelled, at, &reason
		return true, nil
	default:
		return false, l.refuse(problem.NotCancellable, "The link cannot be cancelled any more.")
	}
}

// CheckClaimable refuses a link that cannot be claimed in its status.
func (l *Link) CheckClaimable() error {
	if l.Record.GetStatus() == Active {
		return nil
	}
	return l.refuse(problem.NotEditable, "Only an ACTIVE link can be claimed.")
}

// LockClaim locks the link for a claim that is about to place the order. changed is false if the link cannot be claimed or
// another claim holds the lock.
func (l *Link) LockClaim(orderID string) (changed bool) {
	if l.Record.GetStatus() != Active || l.ClaimOrderID != nil {
		return false
	}
	l.ClaimOrderID = &orderID
	return true
}

// ClaimOutcome is the order of a claimed link.
type ClaimOutcome struct {
	OrderID string
	// PlacedAt is set if the order is that of an earlier claim, which the link has forgotten: the link was claimed at that time.
	PlacedAt time.Time
}

// FinishClaim marks the link as claimed with the order of its claim. changed is false if the claim does not hold the lock.
func (l *Link) FinishClaim(claimID string, o ClaimOutcome, now time.Time) (changed bool) {
	if !l.UnlockClaim(claimID) {
		return false
	}
	l.claim(o, now)
	return true
}

// RestoreClaim marks the link as claimed with the order that it has lost in a restore of its database. If the link is claimed with
// an order that does not exist, lostOrderID is that order; otherwise it is empty. changed is false if the link was cancelled, a
// claim is in flight, or the link has another order.
func (l *Link) RestoreClaim(o ClaimOutcome, lostOrderID string, now time.Time) (changed bool) {
	open := l.Record.GetStatus() == Requested || l.Record.GetStatus() == Active
	wrong := l.Record.GetStatus() == Claimed && l.Record.GetOrderId() == lostOrderID && lostOrderID != o.OrderID
	if l.ClaimOrderID != nil || !open && !wrong {
		return false
	}
	l.claim(o, now)
	return true
}

func (l *Link) claim(o ClaimOutcome, now time.Time) {
	at := l.touch(now)
	l.Record.Status, l.Record.OrderId, l.Record.ClaimedAt = Claimed, &o.OrderID, at
	if o.PlacedAt.After(l.Record.GetCreatedAt().AsTime()) && o.PlacedAt.Before(at.AsTime()) {
		l.Record.ClaimedAt = timestamppb.New(o.PlacedAt)
	}
}

// UnlockClaim opens the link again after its claim was abandoned. changed is false if the claim does not hold the lock.
func (l *Link) UnlockClaim(orderID string) (changed bool) {
	if l.ClaimOrderID == nil || *l.ClaimOrderID != orderID {
		return false
	}
	l.ClaimOrderID = nil
	return true
}

// touch sets and returns the time of a change. It is always later than the last change, even if the clock jumps back.
func (l *Link) touch(now time.Time) *timestamppb.Timestamp {
	at := now.UTC().Truncate(time.Microsecond)
	if last := l.Record.GetUpdatedAt().AsTime(); !at.After(last) {
		at = last.Add(time.Microsecond)
	}
	l.Record.UpdatedAt = timestamppb.New(at)
	return timestamppb.New(at)
}

func (l *Link) refuse(code problem.Code, detail string) error {
	p := problem.New(code, "%s", detail)
	p.CurrentStatus = enumname.String(l.Record.GetStatus())
	return p
}

// Erase erases what the link says about a person, and its token, so that nobody can open it any more. erasedURL replaces the claim
// URL. A link that nobody has claimed is cancelled, because it could no longer be passed to anyone. changed is false if nothing
// is left to erase. A link with a claim in flight returns ErrClaimLocked.
func (l *Link) Erase(erasedURL string, now time.Time) (event string, changed bool, err error) {
	if l.ClaimOrderID != nil {
		return "", false, ErrClaimLocked
	}
	r := l.Record
	named := replaceTexts(r, nil)
	changed = l.Details != nil || l.Reason != nil
	if r.GetStatus() == Requested || r.GetStatus() == Active {
		if _, err := l.Cancel("", now); err != nil {
			return "", false, err
		}
		event, changed = EventCancelled, true
	} else if named || !strings.HasSuffix(r.GetClaimUrl(), "/erased") { // 1.0.0 may have put two slashes before it.
		// The API has no event for this change. It is seen by updatedSince.
		l.touch(now)
		changed = true
	}
	r.ClaimUrl, l.Details, l.Reason = erasedURL, nil, nil
	return event, changed, nil
}

// EraseInAnswer erases in an answer that was given before what the link said about a person, as its events are erased.
func EraseInAnswer(r *linksv1.PersonalLink) (changed bool) { return replaceTexts(r, new(seal.Erased)) }

// replaceTexts replaces the texts that say something about a person, and reports whether there were any.
func replaceTexts(r *linksv1.PersonalLink, by *string) (found bool) {
	for _, text := range recordTexts {
		if at := text.target(r); text.ofPerson && *at != nil {
			*at, found = by, true
		}
	}
	return found
}
