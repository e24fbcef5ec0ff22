package gifting

import (
	"encoding/json"
	"fmt"
	"time"
)

// EventType says what happened. Later versions may have others.
type EventType string

// The types of events.
const (
	EventOrderCreated          EventType = "order.created"
	EventOrderStatusChanged    EventType = "order.status_changed"
	EventOrderUpdated          EventType = "order.updated"
	EventOrderMessagePosted    EventType = "order.message_posted"
	EventPersonalLinkCreated   EventType = "personal_link.created"
	EventPersonalLinkApproved  EventType = "personal_link.approved"
	EventPersonalLinkClaimed   EventType = "personal_link.claimed"
	EventPersonalLinkCancelled EventType = "personal_link.cancelled"
	// EventPing is sent by [Webhooks.Test], and never in the feed.
	EventPing EventType = "ping"
)

// Event is an item of the feed and the body of a webhook. It may arrive twice: drop events whose ID you have already seen.
type Event struct {
	ID   string
	Type EventType
	// OccurredAt is the time of the change, equal to UpdatedAt of the record.
	OccurredAt  time.Time
	Environment Environment
	// Data is one of *OrderCreated, *OrderStatusChanged, *OrderUpdated, *OrderMessagePosted, *PersonalLinkCreated,
	// *PersonalLinkApproved, *PersonalLinkClaimed, *PersonalLinkCancelled, *Ping and *UnknownEvent: switch on its type. It shows the
	// record right after the change.
	Data EventData
	// Raw is the event as the API wrote it.
	Raw json.RawMessage
}

// EventData is what an event is about.
type EventData interface{ eventData() }

// The data of each type. OrderStatusChanged and OrderMessagePosted are in models.gen.go.
type (
	// OrderCreated is an order that was placed.
	OrderCreated struct{ Order }
	// OrderUpdated is an order whose delivery details or shipment were corrected.
	OrderUpdated struct{ Order }
	// PersonalLinkCreated is a new link.
	PersonalLinkCreated struct{ PersonalLink }
	// PersonalLinkApproved is a link that may now be claimed.
	PersonalLinkApproved struct{ PersonalLink }
	// PersonalLinkClaimed is a link with the order that its claim placed.
	PersonalLinkClaimed struct{ PersonalLink }
	// PersonalLinkCancelled is a link that was withdrawn.
	PersonalLinkCancelled struct{ PersonalLink }
	// Ping is a test.
	Ping struct{}
	// UnknownEvent is the data of a type that this version does not know. Ignore it, or decode Raw.
	UnknownEvent struct{ Raw json.RawMessage }
)

func (*OrderCreated) eventData()          {}
func (*OrderStatusChanged) eventData()    {}
func (*OrderUpdated) eventData()          {}
func (*OrderMessagePosted) eventData()    {}
func (*PersonalLinkCreated) eventData()   {}
func (*PersonalLinkApproved) eventData()  {}
func (*PersonalLinkClaimed) eventData()   {}
func (*PersonalLinkCancelled) eventData() {}
func (*Ping) eventData()                  {}
func (*UnknownEvent) eventData()          {}

// UnmarshalJSON implements json.Unmarshaler.
func (u *UnknownEvent) UnmarshalJSON(raw []byte) error { return u.Raw.UnmarshalJSON(raw) }

// dataOf returns a place for the data of a type.
func dataOf(kind EventType) EventData {
	switch kind {
	case EventOrderCreated:
		return &OrderCreated{}
	case EventOrderStatusChanged:
		return &OrderStatusChanged{}
	case EventOrderUpdated:
		return &OrderUpdated{}
	case EventOrderMessagePosted:
		return &OrderMessagePosted{}
	case EventPersonalLinkCreated:
		return &PersonalLinkCreated{}
	case EventPersonalLinkApproved:
		return &PersonalLinkApproved{}
	case EventPersonalLinkClaimed:
		return &PersonalLinkClaimed{}
	case EventPersonalLinkCancelled:
		return &PersonalLinkCancelled{}
	case EventPing:
		return &Ping{}
	}
	return &UnknownEvent{}
}

// UnmarshalJSON implements json.Unmarshaler.
func (e *Event) UnmarshalJSON(raw []byte) error {
	var envelope struct {
		ID          string          `json:"id"`
		Type        EventType       `json:"type"`
		OccurredAt  time.Time       `json:"occurredAt"`
		Environment Environment     `json:"environment"`
		Data        json.RawMessage `json:"data"`
	}
	if err := json.Unmarshal(raw, &envelope); err != nil {
		return err
	}
	if envelope.ID == "" || envelope.Type == "" || envelope.Data == nil {
		return fmt.Errorf("%w: an event has id, type and data", errAnswer)
	}
	data := dataOf(envelope.Type)
	if err := json.Unmarshal(envelope.Data, data); err != nil {
		return fmt.Errorf("event %s, %s: %w", envelope.ID, envelope.Type, err)
	}
	*e = Event{
		ID: envelope.ID, Type: envelope.Type, OccurredAt: envelope.OccurredAt, Environment: envelope.Environment,
		Data: data, Raw: json.RawMessage(append([]byte(nil), raw...)),
	}
	return nil
}

// MarshalJSON implements json.Marshaler: it writes Raw.
func (e Event) MarshalJSON() ([]byte, error) { return e.Raw.MarshalJSON() }
