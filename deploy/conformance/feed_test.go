package conformance_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func testFeed(t *testing.T, p *platform) {
	f := newFixture(t, p)
	page := func(t *testing.T, query string) (items []any, next any) {
		t.Helper()
		body := f.read(t, "/events"+query)
		return body["items"].([]any), body["nextCursor"]
	}
	requirement(t, "FED-6", func(t *testing.T) {
		items, next := page(t, "")
		require.Empty(t, items)
		require.Nil(t, next)
	})
	var placed []string
	for range 5 {
		placed = append(placed, idOf(f.place(t)))
	}
	f.requireEvents(t, f.key, placed[4], "order.created")
	requirement(t, "FED-1", func(t *testing.T) {
		first, next := page(t, "?limit=2")
		require.Len(t, first, 2)
		others, _ := page(t, "?limit=100&after="+next.(string))
		require.Len(t, others, 3)
	})
	requirement(t, "FED-2", func(t *testing.T) {
		for i, e := range f.Feed(t, f.key) {
			require.True(t, e.About(placed[i]), "event %d", i)
		}
	})
	requirement(t, "FED-3", func(t *testing.T) {
		items, _ := page(t, "?limit=1")
		require.Equal(t, placed[0], at(items, "0.data.id"))
	})
	requirement(t, "FED-5", func(t *testing.T) {
		_, last := page(t, "")
		require.NotNil(t, last)
		items, again := page(t, "?after="+last.(string))
		require.Empty(t, items)
		require.NotNil(t, again)
	})
	requirement(t, "FED-7", func(t *testing.T) {
		_, next := page(t, "")
		later := idOf(f.place(t))
		f.requireEvents(t, f.key, later, "order.created")
		items, _ := page(t, "?after="+next.(string))
		require.Len(t, items, 1)
		require.Equal(t, later, at(items, "0.data.id"))
	})
	requirement(t, "FED-9", func(t *testing.T) { require.Equal(t, f.Feed(t, f.key), f.Feed(t, f.newKey(t))) })
	requirement(t, "CHO-49", func(t *testing.T) {
		before := len(f.Feed(t, f.key))
		var changed []string
		for range 5 {
			changed = append(changed, idOf(f.place(t)), idOf(f.link(t)))
		}
		f.requireEvents(t, f.key, changed[9], "personal_link.created")
		f.requireEvents(t, f.key, changed[8], "order.created")
		for i, e := range f.Feed(t, f.key)[before:] {
			require.True(t, e.About(changed[i]), "event %d", i)
		}
	})
	requirement(t, "CHO-50", func(t *testing.T) {
		f.claimed(t)
		f.update(t, f.read(t, "/orders/"+placed[0]), `"urgent": true`)
		f.dispatch(t, placed[0])
		f.cancel(t, "/orders/"+placed[1])
		f.correctStatus(t, placed[1], processing)
		marker := f.place(t)
		f.requireEvents(t, f.key, idOf(marker), "order.created")
		current := map[any]record{}
		for _, order := range f.All(t, f.key, "/orders?limit=3") {
			current[order["id"]] = order
		}
		require.Equal(t, current, f.RebuildOrders(t, f.key))
	})
}
