package rules

import (
	"time"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

// playerName is how a player signs a message: a tenant never learns from the platform who a recipient is.
const playerName = "Recipient"

var maxThanks = fields.MaxLength(&ordersv1.ThankForClaimedOrderRequest{}, "text")

// CheckThanks finds the error of a player's word of thanks.
func CheckThanks(text string, errs *fields.Errors) { errs.RequiredText("text", text, maxThanks) }

// NewThanks makes the message of a player who thanks for the order. Its id depends on nothing but the order, so an order has at
// most one.
func NewThanks(orderID, text string) *Message {
	m := NewMessage(&ordersv1.MessageAuthor{
		Kind: ordersv1.MessageAuthorKind_MESSAGE_AUTHOR_KIND_SYSTEM, Name: playerName,
	}, "", text)
	m.Record.Id = ThanksID(orderID)
	return m
}

// ThanksID is the id of the message with which a player thanks.
func ThanksID(orderID string) string {
	return uuid.NewSHA1(uuid.MustParse(orderID), []byte("thanks")).String()
}

// RefuseThanks returns the error of thanks for an order that was cancelled, whose details were erased, or that was delivered a
// month ago or earlier. Otherwise it returns nil. changes are those of the order's status, the oldest first.
func RefuseThanks(order *ordersv1.Order, detailsErased bool, changes []StatusChange, now time.Time) error {
	open := order.GetStatus() != cancelled && !detailsErased
	if open && order.GetStatus() == completed {
		delivered := MilestonesOf(changes).DeliveredAt
		open = delivered != nil && now.Before(delivered.AsTime().AddDate(0, 1, 0))
	}
	if open {
		return nil
	}
	p := problem.New(problem.NotEditable, "A player can thank until a month after the delivery.")
	p.CurrentStatus = enumname.String(order.GetStatus())
	return p
}
