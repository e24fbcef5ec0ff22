//go:build faults

package faults_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// reader is an API key that reads events: it follows the feed or receives webhooks.
type reader struct {
	name, tenant, key, secret string
	keyID                     int32
	scopes                    []commonv1.Scope
	// brand is the brand that it is limited to, if any.
	brand string
}

// snapshot has the fields of an order or a link that the checks need.
type snapshot struct {
	ID          string  `json:"id"`
	BrandID     string  `json:"brandId"`
	CampaignID  *string `json:"campaignId"`
	Status      string  `json:"status"`
	Version     int64   `json:"version"`
	CreatedAt   string  `json:"createdAt"`
	UpdatedAt   string  `json:"updatedAt"`
	ClaimURL    string  `json:"claimUrl"`
	OrderID     *string `json:"orderId"`
	ApprovedAt  *string `json:"approvedAt"`
	ClaimedAt   *string `json:"claimedAt"`
	CancelledAt *string `json:"cancelledAt"`
	raw         string
}

func (s snapshot) isLink() bool { return s.ClaimURL != "" }

func parseRecord(raw json.RawMessage) (snapshot, error) {
	s := snapshot{raw: string(raw)}
	err := json.Unmarshal(raw, &s)
	return s, err
}

// event is an event with the fields that the checks need.
type event struct {
	name          eventName
	id, kind, raw string
	occurredAt    string
	// record is the order or link. An event of a message has none, only the id of its order as subject.
	record  snapshot
	subject string
}

const (
	messagePosted = "order.message_posted"
	orderEvents   = "order."
	linkEvents    = "personal_link."
)

func parseEvent(raw json.RawMessage) (event, error) {
	var parsed struct {
		ID, Type, OccurredAt string
		Data                 json.RawMessage
	}
	if err := json.Unmarshal(raw, &parsed); err != nil {
		return event{}, err
	}
	var data struct {
		OrderID string
		Order   json.RawMessage
		Message struct{ ID string }
	}
	if err := json.Unmarshal(parsed.Data, &data); err != nil {
		return event{}, err
	}
	e := event{id: parsed.ID, kind: parsed.Type, raw: string(raw), occurredAt: parsed.OccurredAt}
	record := parsed.Data
	if e.kind == "order.status_changed" {
		record = data.Order
	}
	var err error
	if e.record, err = parseRecord(record); err != nil {
		return event{}, err
	}
	e.subject = e.record.ID
	switch linkChange, isLink := strings.CutPrefix(e.kind, linkEvents); {
	case e.kind == messagePosted:
		e.name, e.subject = messageEvent(data.Message.ID), data.OrderID
	case isLink:
		e.name = linkEvent(e.subject, linkChange)
	default:
		e.name = orderEvent(e.subject, e.record.Version)
	}
	return e, nil
}

// step is the position of a change among those of its record.
func (e event) step() int64 {
	if linkChange, isLink := strings.CutPrefix(e.kind, linkEvents); isLink {
		return map[string]int64{"created": 0, "approved": 1, "claimed": 2, "cancelled": 2}[linkChange]
	}
	return e.record.Version
}

// parsePage parses the items of a page and returns the cursor of the next, if any.
func parsePage[T any](body string, parse func(raw json.RawMessage) (T, error)) (items []T, next string, err error) {
	var page struct {
		Items      []json.RawMessage `json:"items"`
		NextCursor *string           `json:"nextCursor"`
	}
	if err := json.Unmarshal([]byte(body), &page); err != nil {
		return nil, "", err
	}
	for _, raw := range page.Items {
		item, err := parse(raw)
		if err != nil {
			return nil, "", err
		}
		items = append(items, item)
	}
	if page.NextCursor != nil {
		next = *page.NextCursor
	}
	return items, next, nil
}

// eventName identifies the event of a change. It can be computed from the response to the change and from the event.
type eventName string

func orderEvent(id string, version int64) eventName {
	return eventName(fmt.Sprintf("order %s version %d", id, version))
}
func messageEvent(id string) eventName { return eventName("message " + id) }

// record is the id of the record that was changed.
func (e eventName) record() string          { return strings.Fields(string(e))[1] }
func linkEvent(id, change string) eventName { return eventName("link " + id + " " + change) }

// change is a successful change, as its writer knows it.
type change struct {
	tenant string
	// keyID is the API key that made the change; 0 if a person made it.
	keyID               int32
	requested, answered time.Time
	events              []eventName
	// data is the response, which some of the events must contain byte for byte.
	data map[eventName]string
}

func (c *change) add(e eventName, data string) {
	c.events = append(c.events, e)
	if c.data == nil {
		c.data = map[eventName]string{}
	}
	c.data[e] = data
}

// hold is the time for which an order certainly has a unit of stock: from its response until its cancellation is requested.
type hold struct{ from, until time.Time }

// history records the responses.
type history struct {
	lock    sync.Mutex
	changes []change
	holds   map[string]*hold
	// records are the records of each tenant, for keys that may not see them.
	records map[string][]snapshot
	// paced are the orders that advance by themselves, with the status at which each stops.
	paced map[string]string
}

func newHistory() *history {
	return &history{holds: map[string]*hold{}, records: map[string][]snapshot{}, paced: map[string]string{}}
}

func (h *history) add(c change) { h.update(func() { h.changes = append(h.changes, c) }) }

func (h *history) of(tenant string) []change {
	h.lock.Lock()
	defer h.lock.Unlock()
	return slices.DeleteFunc(slices.Clone(h.changes), func(c change) bool { return c.tenant != tenant })
}

// update changes the history in f.
func (h *history) update(f func()) {
	h.lock.Lock()
	defer h.lock.Unlock()
	f()
}

func (h *history) addRecord(tenant string, s snapshot) {
	h.update(func() { h.records[tenant] = append(h.records[tenant], s) })
}

// anyRecord returns the n-th record of the tenant, modulo their number.
func (h *history) anyRecord(tenant string, n int) (snapshot, bool) {
	h.lock.Lock()
	defer h.lock.Unlock()
	of := h.records[tenant]
	if len(of) == 0 {
		return snapshot{}, false
	}
	return of[n%len(of)], true
}
