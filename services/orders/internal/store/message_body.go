package store

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/seal"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

// openBody sets the text of a message; nil: it was erased.
func (s *Store) openBody(m *ordersv1.OrderMessage, sealed []byte) error {
	if sealed == nil {
		m.Body = rules.Erased
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

func sealedMessages() seal.Table {
	return seal.Table{Name: "order_messages", Columns: []seal.Column{{Name: "body_sealed", AssociatedData: ofBody}}}
}
