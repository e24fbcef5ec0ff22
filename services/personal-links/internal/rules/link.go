// Package rules holds what is right for a personal link: pure functions of the request, the
// tenant's settings and the clock.
package rules

import (
	"errors"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
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

// ErrMarked says that a claim of the link is under way: it is settled before the link can change.
var ErrMarked = errors.New("a claim of the link is under way")

// Link is a personal link: the record every channel sees and what only its service knows.
type Link struct {
	Record   *linksv1.PersonalLink
	TenantID string
	// BatchID is nil for a link that is older than batches.
	BatchID    *string
	BatchIndex *int32
	Locale     string
	ManagerID  *string
	// Details is nil once they have been erased.
	Details *Details
	// Reason of the cancellation.
	Reason *string
	// ClaimOrderID marks a claim under way: the order it places. Outside, the link is ACTIVE.
	ClaimOrderID *string
	// ClaimStale says that whoever set the mark has had the time to place the order.
	ClaimStale bool
	// ProductIDs are offered by a link to a selection of the catalog.
	ProductIDs []string
}

// Details name a person, or hold free text that may. They live in one sealed column.
type Details struct {
	Label   string   `json:"label"`
	Message string   `json:"message,omitempty"`
	Email   string   `json:"email,omitempty"`
	Answers []Answer `json:"answers,omitempty"`
}

// Answer to one of the tenant's order fields.
type Answer struct {
	FieldID string  `json:"fieldId"`
	Text    *string `json:"text,omitempty"`
	Checked *bool   `json:"checked,omitempty"`
}

// Approve lets the player claim a link that waits. changed is false for a link that was approved
// before.
func (l *Link) Approve(now time.Time) (changed bool, err error) {
	switch l.Record.GetStatus() {
	case Active, Claimed:
		return false, nil
	case Requested:
		at := l.change(now)
		l.Record.Status, l.Record.ApprovedAt = Active, at
		return true, nil
	default:
		return false, l.refuse(problem.NotEditable, "The link cannot be approved any more.")
	}
}

// Cancel withdraws a link that waits for approval or its player. The first reason stays.
func (l *Link) Cancel(reason string, now time.Time) (changed bool, err error) {
	switch {
	case l.Record.GetStatus() == Cancelled:
		return false, nil
	case l.ClaimOrderID != nil:
		return false, ErrMarked
	case l.Record.GetStatus() == Requested || l.Record.GetStatus() == Active:
		at := l.change(now)
		l.Record.Status, l.Record.CancelledAt, l.Reason = Cancelled, at, &reason
		return true, nil
	default:
		return false, l.refuse(problem.NotCancellable, "The link cannot be cancelled any more.")
	}
}

// Mark says that a claim is about to place the order. changed is false where the link cannot be
// claimed or another claim came first.
func (l *Link) Mark(orderID string) (changed bool) {
	if l.Record.GetStatus() != Active || l.ClaimOrderID != nil {
		return false
	}
	l.ClaimOrderID = &orderID
	return true
}

// Claim ends the link with the order its claim has placed. changed is false when the mark is not
// this order's.
func (l *Link) Claim(orderID string, now time.Time) (changed bool) {
	if l.ClaimOrderID == nil || *l.ClaimOrderID != orderID {
		return false
	}
	at := l.change(now)
	l.Record.Status, l.Record.OrderId, l.Record.ClaimedAt, l.ClaimOrderID = Claimed, &orderID, at, nil
	return true
}

// Unmark opens the link again after its claim placed no order and never will.
func (l *Link) Unmark(orderID string) (changed bool) {
	if l.ClaimOrderID == nil || *l.ClaimOrderID != orderID {
		return false
	}
	l.ClaimOrderID = nil
	return true
}

// change dates a change. It is always later than the one before, whatever the clock does.
func (l *Link) change(now time.Time) *timestamppb.Timestamp {
	at := now.UTC().Truncate(time.Microsecond)
	if last := l.Record.GetUpdatedAt().AsTime(); !at.After(last) {
		at = last.Add(time.Microsecond)
	}
	l.Record.UpdatedAt = timestamppb.New(at)
	return timestamppb.New(at)
}

func (l *Link) refuse(code problem.Code, detail string) error {
	p := problem.New(code, "%s", detail)
	p.CurrentStatus = StatusName(l.Record.GetStatus())
	return p
}

const statusPrefix = "PERSONAL_LINK_STATUS_"

// StatusName is the status as the API spells it.
func StatusName(s linksv1.PersonalLinkStatus) string {
	return strings.TrimPrefix(s.String(), statusPrefix)
}

// ParseStatus reads what StatusName gives.
func ParseStatus(name string) linksv1.PersonalLinkStatus {
	return linksv1.PersonalLinkStatus(linksv1.PersonalLinkStatus_value[statusPrefix+name])
}
