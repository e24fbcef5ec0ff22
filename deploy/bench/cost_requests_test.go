package bench_test

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// request is one by its name.
type request struct {
	name string
	send func(by *edgeClient) error
}

func (p *costing) requests() []request {
	get := func(path func() string) func(by *edgeClient) error {
		return func(by *edgeClient) error {
			_, err := by.get(path())
			return err
		}
	}
	return []request{
		{"place-order", func(by *edgeClient) error {
			_, err := p.place(by)
			return err
		}},
		{"post-message", func(by *edgeClient) error {
			name := "message-" + strconv.FormatInt(p.placed.next(), 10)
			_, err := by.post("/orders/"+p.orders.any()+"/messages", name, messageBody, http.StatusCreated)
			return err
		}},
		{"get-order", get(func() string { return "/orders/" + p.orders.any() })},
		{"list-50-orders", get(func() string { return "/orders" })},
		{"read-50-events", get(func() string { return "/events" })},
		{"poll-nothing-new", p.pollEnd},
	}
}

const messageBody = `{"body": "When will it come?"}`

// pollEnd asks for what is behind the end of the feed, which the first client looks for.
func (p *costing) pollEnd(by *edgeClient) error {
	p.look.Do(func() { p.end, p.fault = endOfFeed(by) })
	if p.fault != nil {
		return p.fault
	}
	_, err := by.get("/events?after=" + p.end)
	return err
}

func endOfFeed(by *edgeClient) (string, error) {
	path, cursor := "/events?limit=100", ""
	for {
		answered, err := by.get(path)
		if err != nil {
			return "", err
		}
		var page struct {
			Items      []json.RawMessage
			NextCursor *string
		}
		if err := json.Unmarshal(answered, &page); err != nil {
			return "", err
		}
		if len(page.Items) == 0 || page.NextCursor == nil {
			return cursor, nil
		}
		cursor = *page.NextCursor
		path = "/events?limit=100&after=" + cursor
	}
}
