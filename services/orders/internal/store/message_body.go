package store

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/progress"
	"github.com/partnergifting/platform/pkg/reencrypt"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// sealedBody is in the column body of a message whose text is sealed. A trigger removes the sealed text with it.
const sealedBody = "[sealed]"

// storedBody is the text of a message in its columns.
type storedBody struct {
	text   string
	sealed []byte
	// bytes is the length of the text; nil if it is not sealed.
	bytes *int
}

// storeBody seals the text, unless sealing is off. Then the previous version still reads all messages.
func (s *Store) storeBody(messageID, text string) storedBody {
	if s.events == nil {
		return storedBody{text: text}
	}
	return storedBody{text: sealedBody, sealed: s.ring.Seal([]byte(text), ofBody(messageID)), bytes: new(len(text))}
}

// openBody sets the text of a message. One that is not sealed has it already.
func (s *Store) openBody(m *ordersv1.OrderMessage, sealed []byte) error {
	if sealed == nil {
		return nil
	}
	plain, err := s.ring.Open(sealed, ofBody(m.GetId()))
	if err != nil {
		return fmt.Errorf("text of message %s: %w", m.GetId(), err)
	}
	m.Body = string(plain)
	return nil
}

// ofBody binds the sealed text to its column and message.
func ofBody(messageID string) string { return "order_messages.body_sealed/" + messageID }

func sealedMessages() reencrypt.Table {
	return reencrypt.Table{Name: "order_messages", Columns: []reencrypt.Column{{Name: "body_sealed", AssociatedData: ofBody}}}
}

const (
	sealBatch = 500

	selectPlainBodies = `SELECT tenant_id::text, id::text, body FROM order_messages
WHERE (tenant_id, id) > ($1, $2) AND body_sealed IS NULL AND body <> $3 ORDER BY tenant_id, id LIMIT $4`

	// A text that was erased meanwhile differs, and stays erased.
	sealBodies = `UPDATE order_messages m SET body = $1, body_sealed = r.sealed, body_bytes = octet_length(m.body)
FROM unnest($2::uuid[], $3::text[], $4::bytea[]) AS r (id, body, sealed)
WHERE m.id = r.id AND m.body_sealed IS NULL AND m.body = r.body`
)

// SealMessages seals the texts of messages that lie in plain text, and reports its progress on out. It can be stopped and started
// again at any time. A running instance of an earlier version, or with sealing off, may store further ones.
func (s *Store) SealMessages(ctx context.Context, out io.Writer) error {
	total := 0
	bar := progress.New(progress.OnTerminal(out), "messages sealed that were in plain text", 0)
	defer bar.End()
	for tenant, id := uuid.Nil.String(), uuid.Nil.String(); ; {
		rows, err := s.pool.Query(ctx, selectPlainBodies, tenant, id, rules.Erased, sealBatch)
		if err != nil {
			return fmt.Errorf("read messages: %w", err)
		}
		var ids, bodies []string
		var sealed [][]byte
		var body string
		_, err = pgx.ForEachRow(rows, []any{&tenant, &id, &body}, func() error {
			ids, bodies = append(ids, id), append(bodies, body)
			sealed = append(sealed, s.ring.Seal([]byte(body), ofBody(id)))
			return nil
		})
		if err != nil {
			return fmt.Errorf("read messages: %w", err)
		}
		if len(ids) > 0 {
			tag, err := s.pool.Exec(ctx, sealBodies, sealedBody, ids, bodies, sealed)
			if err != nil {
				return fmt.Errorf("seal messages: %w", err)
			}
			total += int(tag.RowsAffected())
			bar.Add(int(tag.RowsAffected()))
		}
		_, _ = fmt.Fprintf(progress.Lines(out), "sealed %d messages that were in plain text\n", total) // Only progress.
		if len(ids) < sealBatch {
			return nil
		}
	}
}
