package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

const (
	insertMessage = `INSERT INTO order_messages
  (tenant_id, order_id, id, author_kind, author_id, author_name, internal, body_sealed, body_bytes, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

	selectPosted = `SELECT count(*) FILTER (WHERE internal = $3),
  COALESCE(sum(body_bytes) FILTER (WHERE internal = $3), 0), max(created_at)
FROM order_messages WHERE tenant_id = $1 AND order_id = $2`

	selectBrand = `SELECT brand_id FROM orders WHERE tenant_id = $1 AND id = $2`

	messageColumns = `id, author_kind, author_id, author_name, internal, body_sealed, created_at`

	selectVisibleMessages = `SELECT ` + messageColumns + ` FROM order_messages
WHERE tenant_id = $1 AND order_id = $2 AND NOT internal ORDER BY seq`

	selectAllMessages = `SELECT ` + messageColumns + ` FROM order_messages
WHERE tenant_id = $1 AND order_id = $2 ORDER BY seq`
)

// WithMessage returns the action with the steps that post the message in the store. check returns the errors of the request, which
// are reported only if the order exists.
func (a Action[R]) WithMessage(s *Store, m *rules.Message, check func() error, now func() time.Time) Action[R] {
	var before rules.Posted
	a.ReadMore = func(b *pgx.Batch, tenantID, orderID string) {
		before = rules.Posted{}
		b.Queue(selectPosted, tenantID, orderID, m.Internal).QueryRow(func(row pgx.Row) error {
			var last *time.Time
			err := row.Scan(&before.Number, &before.Bytes, &last)
			if last != nil {
				before.Last = *last
			}
			return err
		})
	}
	a.Decide = func(current *rules.Current) (*rules.Change, error) {
		if err := check(); err != nil {
			return nil, err
		}
		return m.Post(current, before, now())
	}
	a.WriteMore = func(b *pgx.Batch, before *rules.Current, _ *rules.Change) {
		r := m.Record
		body := []byte(r.GetBody())
		sealed := s.ring.Seal(body, bodyAssociatedData(r.GetId()))
		b.Queue(insertMessage, before.TenantID, before.Record.GetId(), r.GetId(), enumname.String(r.GetAuthor().GetKind()),
			m.AuthorID, r.GetAuthor().GetName(), m.Internal, sealed, len(body), r.GetCreatedAt().AsTime())
	}
	return a
}

// Messages reads the messages of an order, oldest first, and the order's brand. It returns ErrNotFound if the tenant has no such
// order.
func (s *Store) Messages(
	ctx context.Context, tenantID, orderID string, withInternal bool,
) (brandID string, messages []*rules.Message, err error) {
	statement := selectVisibleMessages
	if withInternal {
		statement = selectAllMessages
	}
	b := &pgx.Batch{}
	b.Queue(selectBrand, tenantID, orderID).QueryRow(func(row pgx.Row) error { return row.Scan(&brandID) })
	postgres.QueueSelect(b, &messages, func(row pgx.CollectableRow) (*rules.Message, error) { return s.scanMessage(row) },
		statement, tenantID, orderID)
	err = s.pool.SendBatch(ctx, b).Close()
	if errors.Is(err, pgx.ErrNoRows) {
		return "", nil, ErrNotFound
	}
	if err != nil {
		return "", nil, fmt.Errorf("read messages: %w", err)
	}
	return brandID, messages, nil
}

// scanMessage reads messageColumns, and the further columns of the statement into more.
func (s *Store) scanMessage(row pgx.CollectableRow, more ...any) (*rules.Message, error) {
	m := &rules.Message{Record: &ordersv1.OrderMessage{Author: &ordersv1.MessageAuthor{}}}
	r := m.Record
	var sealed []byte
	into := []any{
		&r.Id, postgres.ScanEnum(&r.Author.Kind), &m.AuthorID, &r.Author.Name, &m.Internal, &sealed,
		postgres.ScanTime(&r.CreatedAt),
	}
	if err := row.Scan(append(into, more...)...); err != nil {
		return nil, err
	}
	return m, s.openBody(r, sealed)
}

// ErrMessageIDTaken means that another message has the id.
var ErrMessageIDTaken = errors.New("message id is taken")

// PostedMessage is a message of a tenant found by its id, with its order.
type PostedMessage struct {
	OrderID string
	Message *rules.Message
}

const selectMessage = `SELECT ` + messageColumns + `, order_id FROM order_messages WHERE tenant_id = $1 AND id = $2`

// QueueFindMessage adds the look-up of a message by its id; into gets nil if the tenant has none.
func (s *Store) QueueFindMessage(b *pgx.Batch, tenantID, id string, into **PostedMessage) {
	postgres.QueueSelectFirst(b, into, func(row pgx.CollectableRow) (p *PostedMessage, err error) {
		p = &PostedMessage{}
		p.Message, err = s.scanMessage(row, &p.OrderID)
		return p, err
	}, selectMessage, tenantID, id)
}

const selectClient = `SELECT author_id FROM order_messages
WHERE tenant_id = $1 AND order_id = $2 AND author_kind = 'TENANT_CLIENT' AND author_id <> '' LIMIT 1`

// QueueFindClient adds the look-up of the client who has posted on an order; into gets an empty id if none has.
func QueueFindClient(b *pgx.Batch, tenantID, orderID string, into *string) {
	postgres.QueueSelectFirst(b, into, pgx.RowTo[string], selectClient, tenantID, orderID)
}

// PostMessageError translates an error of the transaction.
func PostMessageError(err error) error {
	if constraint, ok := postgres.UniqueViolation(err); ok && constraint == "order_messages_pkey" {
		return ErrMessageIDTaken
	}
	return err
}

// openBody sets the text of a message; nil: it was erased.
func (s *Store) openBody(m *ordersv1.OrderMessage, sealed []byte) error {
	if sealed == nil {
		m.Body = rules.Erased
		return nil
	}
	plain, err := s.ring.Open(sealed, bodyAssociatedData(m.GetId()))
	if err != nil {
		return fmt.Errorf("text of message %s: %w", m.GetId(), err)
	}
	m.Body = string(plain)
	return nil
}

// bodyAssociatedData binds the sealed text to its column and message.
func bodyAssociatedData(messageID string) string { return "order_messages.body_sealed/" + messageID }

func sealedMessages() seal.Table {
	return seal.Table{Name: "order_messages", Columns: []seal.Column{{Name: "body_sealed", AssociatedData: bodyAssociatedData}}}
}
