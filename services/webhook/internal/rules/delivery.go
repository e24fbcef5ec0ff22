package rules

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/google/uuid"
)

// DeliveryID is the public id of the delivery of an event to a key: the id of the event with its random bits changed for the key.
// So it needs no column and is the same for deliveries of every age. It is not secret: a lookup is always within the calling key.
func DeliveryID(keyID int32, eventID string) string {
	return changeFor(keyID, uuid.MustParse(eventID)).String()
}

// EventOfDelivery is the id of the event of a delivery to the key. For a UUID that is not such a delivery's id, it is one that no
// event has.
func EventOfDelivery(keyID int32, deliveryID uuid.UUID) string {
	return changeFor(keyID, deliveryID).String()
}

// changeFor is its own inverse. It keeps the time, the version and the variant.
func changeFor(keyID int32, id uuid.UUID) uuid.UUID {
	salted := binary.BigEndian.AppendUint32([]byte("webhook delivery "), uint32(keyID)) //nolint:gosec // Ids are positive.
	mask := sha256.Sum256(salted)
	const random, variant, belowVersion, belowVariant = 6, 8, 0x0f, 0x3f
	mask[random] &= belowVersion
	mask[variant] &= belowVariant
	for i := random; i < len(id); i++ {
		id[i] ^= mask[i]
	}
	return id
}

// EventTypes are the types of the events that webhooks get.
var EventTypes = []string{
	"order.created", "order.status_changed", "order.updated", "order.message_posted",
	"personal_link.created", "personal_link.approved", "personal_link.claimed", "personal_link.cancelled",
}

// EnvelopeHead is how much of an envelope OccurredAt needs.
const EnvelopeHead = 256

// OccurredAt is the time of the change, from the beginning of its envelope. Without one it is that of the event's id.
func OccurredAt(eventID string, head []byte) time.Time {
	d := json.NewDecoder(bytes.NewReader(head))
	for name := json.Token(nil); ; {
		token, err := d.Token()
		if err != nil {
			return EventAt(eventID)
		}
		if name == "occurredAt" {
			text, _ := token.(string)
			if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
				return at
			}
		}
		name = token
	}
}
