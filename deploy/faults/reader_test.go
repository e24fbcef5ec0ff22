//go:build faults

package faults_test

import (
	"encoding/json"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// reader is a key that reads events, as a follower of the feed or as a receiver of webhooks.
type reader struct {
	name, tenant, key, secret string
	keyID                     int32
	scopes                    []commonv1.Scope
	// brand is the one it is limited to, if any.
	brand string
}

// seen is an event as it stands in a page, and what the check needs of it.
type seen struct {
	mark          mark
	id, kind, raw string
	occurredAt    string
	// record is the order or the link as it was; a message's has nothing but its order's id in subject.
	record  snapshot
	subject string
}

func readSeen(raw json.RawMessage) (seen, error) {
	var e struct {
		ID, Type, OccurredAt string
		Data                 json.RawMessage
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return seen{}, err
	}
	s := seen{id: e.ID, kind: e.Type, raw: string(raw), occurredAt: e.OccurredAt}
	var data struct {
		OrderID string
		Order   json.RawMessage
		Message struct{ ID string }
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return seen{}, err
	}
	body := e.Data
	if e.Type == "order.status_changed" {
		body = data.Order
	}
	var err error
	if s.record, err = readRecord(body); err != nil {
		return seen{}, err
	}
	switch e.Type {
	case messagePosted:
		s.mark, s.subject = messageMark(data.Message.ID), data.OrderID
	case "order.created", "order.updated", "order.status_changed":
		s.mark, s.subject = orderMark(s.record.ID, s.record.Version), s.record.ID
	default:
		s.mark, s.subject = linkMark(s.record.ID, e.Type[len(ofLinks):]), s.record.ID
	}
	return s, nil
}

const (
	messagePosted = "order.message_posted"
	ofOrders      = "order."
	ofLinks       = "personal_link."
)

// step is the place of a change among those of its record.
func (s seen) step() int64 {
	if s.kind[:min(len(s.kind), len(ofLinks))] != ofLinks {
		return s.record.Version
	}
	return map[string]int64{"created": 0, "approved": 1, "claimed": 2, "cancelled": 2}[s.kind[len(ofLinks):]]
}

func readPage(body string) (events []seen, next string, err error) {
	var page struct {
		Items      []json.RawMessage `json:"items"`
		NextCursor *string           `json:"nextCursor"`
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		return nil, "", err
	}
	for _, item := range page.Items {
		e, err := readSeen(item)
		if err != nil {
			return nil, "", err
		}
		events = append(events, e)
	}
	if page.NextCursor != nil {
		next = *page.NextCursor
	}
	return events, next, nil
}
