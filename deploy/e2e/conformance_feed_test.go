package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func (p *platform) promisesOfTheFeed(t *testing.T) {
	s := p.newShop(t, false)
	page := func(t *testing.T, key, query string) (items []json.RawMessage, cursor *string) {
		t.Helper()
		a := s.get(t, key, "/events"+query)
		require.Equal(t, http.StatusOK, a.status, a.body)
		var read struct {
			Items      []json.RawMessage `json:"items"`
			NextCursor *string           `json:"nextCursor"`
		}
		require.NoError(t, json.Unmarshal([]byte(a.body), &read))
		return read.Items, read.NextCursor
	}
	t.Run("nextCursor is null when the feed is empty and no cursor was sent", func(t *testing.T) {
		items, cursor := page(t, s.key, "")
		require.Empty(t, items)
		require.Nil(t, cursor)
	})
	var placed []string
	for range 5 {
		placed = append(placed, idOf(s.place(t)))
	}
	s.recorded(t, s.key, placed[4], "order.created")
	t.Run("the feed takes after and limit", func(t *testing.T) {
		first, cursor := page(t, s.key, "?limit=2")
		require.Len(t, first, 2)
		rest, _ := page(t, s.key, "?limit=100&after="+*cursor)
		require.Len(t, rest, 3)
	})
	t.Run("events stand in the order in which they were committed", func(t *testing.T) {
		for i, e := range s.feed(t, s.key) {
			require.True(t, e.about(placed[i]), "event %d", i)
		}
	})
	t.Run("without a cursor the feed starts at the oldest event", func(t *testing.T) {
		items, _ := page(t, s.key, "?limit=1")
		require.Contains(t, string(items[0]), placed[0])
	})
	t.Run("every page has nextCursor, the last one too", func(t *testing.T) {
		_, last := page(t, s.key, "")
		require.NotNil(t, last)
		items, again := page(t, s.key, "?after="+*last)
		require.Empty(t, items)
		require.NotNil(t, again)
	})
	t.Run("resuming from a cursor skips no event", func(t *testing.T) {
		_, cursor := page(t, s.key, "")
		later := idOf(s.place(t))
		s.recorded(t, s.key, later, "order.created")
		items, _ := page(t, s.key, "?after="+*cursor)
		require.Len(t, items, 1)
		require.Contains(t, string(items[0]), later)
	})
	t.Run("the feed holds what was before the key existed", func(t *testing.T) {
		require.Equal(t, s.feed(t, s.key), s.feed(t, s.makeKey(t, nil).GetApiKey()))
	})
}
