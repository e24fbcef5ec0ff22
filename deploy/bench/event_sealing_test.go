package bench_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
	"github.com/partnergifting/platform/pkg/eventseal"
)

// linksOfChange is how many claim links a change creates. With the message of the order, all its events but one have a sealed
// member.
const linksOfChange = 4

// BenchmarkEventSealing compares two platforms of the same process, of which one seals its events. A change is an order placed, a
// message posted and a batch of claim links created; then its events are delivered and read from the feed.
func BenchmarkEventSealing(b *testing.B) {
	newVariant := func(name string, sealing eventseal.Sealing) *variant {
		f := newEventsFixture(b, sealing)
		// The feed leaves out messages that the key itself posted, so it is read with a key that posts none.
		by, reader := f.clients(b, clients), f.clients(b, 1)[0]
		return &variant{
			name: name, meter: f.NewMeter(b),
			change: func(client int) error { return f.change(by[client]) },
			after:  func() { f.follow(b, reader) },
		}
	}
	compareCosts(b, newVariant("plain", eventseal.Off), newVariant("sealed", eventseal.On))
}

// eventsFixture is a platform whose events are delivered and read from the feed.
type eventsFixture struct {
	*ordersFixture

	// recorded are the events of all changes, received those that were delivered, and read those that the feed returned.
	recorded, received atomic.Int64
	read               int64
	// feed is the path of the feed's next page.
	feed string
}

func newEventsFixture(b *testing.B, sealing eventseal.Sealing) *eventsFixture {
	b.Helper()
	platform := fixture.StartWith(b, map[string]string{"GIFTING_EVENT_SEALING": string(sealing)})
	f := &eventsFixture{ordersFixture: &ordersFixture{Platform: platform}, feed: "/events?limit=100"}
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		f.received.Add(1)
		w.WriteHeader(http.StatusNoContent)
	}))
	b.Cleanup(receiver.Close)
	tenant := f.DemoTenant(b)
	require.NoError(b, tenant.MoveWebhooks(b.Context(), receiver.URL))
	f.use(b, tenant)
	return f
}

// change makes one event of an order, one of its message, and one of each link.
func (f *eventsFixture) change(by *client) error {
	answer, err := f.place(by)
	if err != nil {
		return err
	}
	var order struct{ ID string }
	if err := json.Unmarshal(answer, &order); err != nil {
		return err
	}
	name := strconv.FormatInt(f.placed.Add(1), 10)
	message := `{"body": "When will it come? Ann is away from Monday to Thursday, so please leave it at the neighbour's door."}`
	if _, err := by.post("/orders/"+order.ID+"/messages", "message-"+name, message, http.StatusCreated); err != nil {
		return err
	}
	recipients := make([]string, linksOfChange)
	for i := range recipients {
		recipients[i] = fmt.Sprintf(`{"label": "Player %d", "externalRecipientId": "player-%s-%d"}`, i, name, i)
	}
	links := fmt.Sprintf(`{"campaignId": %q, "recipients": [%s]}`, f.Env["GIFTING_CAMPAIGN_ID"], strings.Join(recipients, ","))
	if _, err := by.post("/personal-links:create-batch", "links-"+name, links, http.StatusOK); err != nil {
		return err
	}
	f.recorded.Add(2 + linksOfChange)
	return nil
}

// follow reads the feed to its end, and waits until all events are delivered.
func (f *eventsFixture) follow(b *testing.B, by *client) {
	b.Helper()
	var page struct {
		Items      []struct{ Data json.RawMessage }
		NextCursor *string
	}
	for due := time.Now().Add(time.Minute); f.read < f.recorded.Load(); {
		require.Less(b, time.Now(), due, "the feed lacks events: %d of %d", f.read, f.recorded.Load())
		answer, err := by.get(f.feed)
		require.NoError(b, err)
		page.Items, page.NextCursor = nil, nil
		require.NoError(b, json.Unmarshal(answer, &page))
		f.read += int64(len(page.Items))
		if page.NextCursor != nil {
			f.feed = "/events?limit=100&after=" + *page.NextCursor
		}
		if len(page.Items) == 0 {
			<-time.After(10 * time.Millisecond)
		}
	}
	require.Eventually(b, func() bool { return f.received.Load() >= f.recorded.Load() }, time.Minute, 10*time.Millisecond)
}
