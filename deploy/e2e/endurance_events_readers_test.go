//go:build faults

package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/partnergifting/platform/deploy/local/inbox"
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
	case "order.message_posted":
		s.mark, s.subject = messageMark(data.Message.ID), data.OrderID
	case "order.created", "order.updated", "order.status_changed":
		s.mark, s.subject = orderMark(s.record.ID, s.record.Version), s.record.ID
	default:
		s.mark, s.subject = linkMark(s.record.ID, e.Type[len("personal_link."):]), s.record.ID
	}
	return s, nil
}

// follower reads the feed while it grows.
type follower struct {
	reader
	writer *writer
	random *mathrand.Rand

	lock   sync.Mutex
	cursor string
	events []seen
}

const followEvery = 500 * time.Millisecond

func (f *follower) run(ctx context.Context) {
	for ctx.Err() == nil {
		if more, err := f.page(ctx); err != nil {
			f.writer.ledger.count("follower: " + err.Error())
		} else if more {
			continue
		}
		pauseFor(ctx, followEvery)
	}
}

// page reads the next page, of a random size, and says whether it was full.
func (f *follower) page(ctx context.Context) (bool, error) {
	limit := 1 + f.random.IntN(100)
	path := fmt.Sprintf("/events?limit=%d", limit)
	if f.cursor != "" {
		path += "&after=" + f.cursor
	}
	a, err := f.writer.attempt(ctx, call{method: http.MethodGet, path: path})
	if err != nil || a.status != http.StatusOK {
		return false, fmt.Errorf("%s", outcome{answer: a, err: err}.kind())
	}
	events, next, err := readPage(a.body)
	if err != nil {
		return false, err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	f.events = append(f.events, events...)
	if next != "" {
		f.cursor = next
	}
	return len(events) == limit, nil
}

func (f *follower) length() int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.events)
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

// endpoint receives the webhooks of a key. It refuses one in refuseIn at first.
type endpoint struct {
	reader
	ledger *ledger

	lock     sync.Mutex
	random   *mathrand.Rand
	bodies   map[string]string
	arrivals map[string]int
	total    int
	refused  int
}

const refuseIn = 300

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		return // The sender was killed while it sent.
	}
	id := r.Header.Get("Service-Event-Id")
	if !inbox.Verify(e.secret, r.Header.Get(inbox.SignatureHeader), raw, time.Now()) {
		e.ledger.complain("receiver %s: event %s is not signed", e.name, id)
	}
	e.lock.Lock()
	defer e.lock.Unlock()
	e.total++
	if e.arrivals[id] == 0 && e.random.IntN(refuseIn) == 0 {
		e.refused++
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	if before, again := e.bodies[id]; again && before != string(raw) {
		e.ledger.complain("receiver %s: event %s comes with another body", e.name, id)
	}
	e.bodies[id] = string(raw)
	e.arrivals[id]++
	w.WriteHeader(http.StatusNoContent)
}

// missing gives how many of the events have not arrived.
func (e *endpoint) missing(ids []string) int {
	e.lock.Lock()
	defer e.lock.Unlock()
	n := 0
	for _, id := range ids {
		if e.arrivals[id] == 0 {
			n++
		}
	}
	return n
}
