package store

import (
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// ErrMessageIDTaken means that the id of a message is that of another one.
var ErrMessageIDTaken = errors.New("message id is taken")

// PostedMessage is where and what a message with a chosen id is.
type PostedMessage struct {
	TenantID string
	OrderID  string
	Message  *rules.Message
}

const selectPosted = `SELECT ` + messageColumns + `, tenant_id, order_id FROM order_messages WHERE id = $1`

// QueueFindMessage adds the look-up of a message by its id: into is nil without one.
func QueueFindMessage(b *pgx.Batch, id string, into **PostedMessage) {
	*into = nil
	b.Queue(selectPosted, id).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (*PostedMessage, error) {
			p := &PostedMessage{}
			var err error
			p.Message, err = scanMessage(row, &p.TenantID, &p.OrderID)
			return p, err
		})
		if len(found) == 1 {
			*into = found[0]
		}
		return err
	})
}

// PostMessageError names the fault behind an error of the transaction.
func PostMessageError(err error) error {
	if constraint, ok := postgres.UniqueViolation(err); ok && constraint == "order_messages_pkey" {
		return ErrMessageIDTaken
	}
	return err
}
