package bench_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

// BenchmarkCostOfRequest measures what a request costs: processor time by program and server, statements and commits. The work that
// follows a change, up to the feed, is included.
func BenchmarkCostOfRequest(b *testing.B) {
	requireDeployed(b)
	f := newCostFixture(b, deployOrders(b, nil))
	all := f.clients(b, clients)
	for _, r := range f.requests() {
		b.Run(r.name, func(b *testing.B) {
			var of cost
			fixture.Once(b, func() { of = f.costOf(b, func(client int) error { return r.send(all[client]) }) })
			of.used.Report(b, of.requests, time.Microsecond, "µs")
			of.counters.Report(b, float64(of.requests), "request")
		})
	}
}

// costFixture is a platform with orders whose requests are measured.
type costFixture struct {
	*ordersFixture

	orders *cycle
	meter  *fixture.Meter
	// end is a cursor after the last event, found by the first request that needs it.
	findEnd sync.Once
	end     string
	endErr  error
}

func newCostFixture(b *testing.B, of *ordersFixture) *costFixture {
	b.Helper()
	f := &costFixture{ordersFixture: of}
	f.orders, f.meter = f.placeMany(b), f.NewMeter(b)
	f.drain(b)
	return f
}

// request is a kind of request.
type request struct {
	name string
	send func(c *client) error
}

func (f *costFixture) requests() []request {
	get := func(path func() string) func(c *client) error {
		return func(c *client) error {
			_, err := c.get(path())
			return err
		}
	}
	return []request{
		{"place-order", f.send},
		{"post-message", func(c *client) error {
			name := "message-" + strconv.FormatInt(f.placed.Add(1), 10)
			_, err := c.post("/orders/"+f.orders.next()+"/messages", name, `{"body": "When will it come?"}`, http.StatusCreated)
			return err
		}},
		{"get-order", get(func() string { return "/orders/" + f.orders.next() })},
		{"list-50-orders", get(func() string { return "/orders" })},
		{"read-50-events", get(func() string { return "/events" })},
		{"poll-nothing-new", func(c *client) error {
			f.findEnd.Do(func() { f.end, f.endErr = endOfFeed(c) })
			if f.endErr != nil {
				return f.endErr
			}
			_, err := c.get("/events?after=" + f.end)
			return err
		}},
	}
}

func endOfFeed(c *client) (cursor string, err error) {
	for path := "/events?limit=100"; ; path = "/events?limit=100&after=" + cursor {
		answer, err := c.get(path)
		if err != nil {
			return "", err
		}
		var page struct {
			Items      []json.RawMessage
			NextCursor *string
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return "", err
		}
		if len(page.Items) == 0 || page.NextCursor == nil {
			return cursor, nil
		}
		cursor = *page.NextCursor
	}
}

// cost is what requests cost.
type cost struct {
	requests int
	used     fixture.Usage
	counters fixture.Counters
}

// costOf lets all clients send requests for one iteration.
func (f *costFixture) costOf(b *testing.B, send func(client int) error) (of cost) {
	b.Helper()
	// The server would do this itself in the time in which so many orders normally arrive.
	_, err := f.db.Exec(b.Context(), "VACUUM (ANALYZE)")
	require.NoError(b, err)
	of.counters = f.Count(b, func() {
		of.used = f.meter.During(b, func() {
			_, of.requests = sendAll(b, clients, send)
			f.drain(b)
		})
	})
	return of
}
