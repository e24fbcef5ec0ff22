package growth_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/page"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

const pageSize = 50

// BenchmarkGrowthOfFeed reads pages of feeds with different numbers of events: those of sizes.
func BenchmarkGrowthOfFeed(b *testing.B) {
	platforms := newPlatforms(b)
	operations := make([][]operation, len(platforms))
	for i, p := range platforms {
		operations[i] = newFeedCalls(b, p.fillFeed(b)).pages()
	}
	fixture.Once(b, func() { measure(b, platforms, operations) })
}

// feedCalls makes the operations that read the feed of a filled platform.
type feedCalls struct {
	*filled

	b      *testing.B
	events eventsv1.EventsServiceClient
}

func newFeedCalls(b *testing.B, of *filled) *feedCalls {
	b.Helper()
	return &feedCalls{filled: of, b: b, events: eventsv1.NewEventsServiceClient(of.Dial(b, "GIFTING_GRPC_EVENTS"))}
}

// cursorAfter returns a cursor after an event, as the service makes it.
func (c *feedCalls) cursorAfter(number int) *string {
	const secondsOfDay = 24 * 60 * 60
	raw := binary.BigEndian.AppendUint32(nil, uint32(c.dayOf(number).Unix()/secondsOfDay))
	raw = binary.BigEndian.AppendUint64(raw, uint64(number))
	return proto.String(page.Bind("events", c.tenant.ID).Encode(raw))
}

// read returns the operation that reads a page, which must have the given number of items. after returns the cursor of the nth
// call.
func (c *feedCalls) read(ctx context.Context, name string, items int, after func(n int) *string) operation {
	return operation{name, func(n int) error {
		got, err := c.events.ListEvents(ctx, &eventsv1.ListEventsRequest{After: after(n), Limit: proto.Int32(pageSize)})
		if err == nil && len(got.GetItems()) != items {
			return fmt.Errorf("%d events instead of %d", len(got.GetItems()), items)
		}
		return err
	}}
}

func (c *feedCalls) pages() []operation {
	at := func(number int) func(int) *string {
		cursor := c.cursorAfter(number)
		return func(int) *string { return cursor }
	}
	// Nine of ten events are the tenant's; the last one is not.
	last := c.size - 1
	scanStart := c.size - 9_500 // A call scans all events after it, at every size.
	return []operation{
		c.read(c.keyContext(c.b), "beginning", pageSize, func(int) *string { return nil }),
		// A whole page follows even the last of these positions.
		c.read(c.keyContext(c.b), "anywhere", pageSize, func(n int) *string { return c.cursorAfter(1 + c.known(n)*9/10) }),
		c.read(c.keyContext(c.b), "end", pageSize, at(last-pageSize*10/9)),
		c.read(c.keyContext(c.b), "nothing-new", 0, at(last)),
		c.read(c.keyContext(c.b, c.smallBrand), "small-brand", c.eventsOnPage(scanStart, c.smallBrand), at(scanStart)),
		c.read(c.keyContext(c.b, c.rareBrand), "rare-brand", c.eventsOnPage(scanStart, c.rareBrand), at(scanStart)),
	}
}

// eventsOnPage returns how many events of a brand one call returns: those among the events that it scans, but at most a page.
func (c *feedCalls) eventsOnPage(after int, brand string) int {
	c.b.Helper()
	const maxScanned = 10_000 // As in the service.
	var found int
	pool := c.Pool(c.b, "events", 1)
	require.NoError(c.b, pool.QueryRow(c.b.Context(), `SELECT count(*) FILTER (WHERE brand_id = $3) FROM (
  SELECT brand_id FROM feed WHERE tenant_id = $1 AND position > $2 ORDER BY day, position LIMIT $4) AS scanned`,
		c.tenant.ID, after, brand, maxScanned).Scan(&found))
	return min(found, pageSize)
}
