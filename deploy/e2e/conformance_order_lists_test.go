package e2e_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func (p *platform) promisesOfOrderLists(t *testing.T) {
	s := p.newShop(t, false)
	var placed []map[string]any
	for i := range 5 {
		placed = append(placed, s.place(t, with("externalRecipientId", fmt.Sprintf("player-%d", i))))
	}
	elsewhere := s.place(t, with("brandId", s.other))
	people := []map[string]any{s.placeAs(t, s.member), s.placeAs(t, clerk)}
	claimed := s.claimed(t)
	newestFirst := slices.Concat(ids(placed), ids([]map[string]any{elsewhere}), ids(people), []any{claimed["orderId"]})
	slices.Reverse(newestFirst)
	t.Run("orders within the key's brands are listed, newest placed first", func(t *testing.T) {
		require.Equal(t, newestFirst, ids(s.list(t, s.key, "/orders")))
		require.Equal(t, []any{elsewhere["id"]}, ids(s.list(t, s.keyOf(t, s.other), "/orders")))
	})
	t.Run("orders of every channel are listed", func(t *testing.T) {
		found := map[any]bool{}
		for _, order := range s.list(t, s.key, "/orders") {
			found[order["source"]] = true
		}
		require.Equal(t, map[any]bool{"API": true, "WORKSPACE": true, "BACKOFFICE": true, "PERSONAL_LINK": true}, found)
	})
	third := placed[2]
	cancelled := s.cancel(t, "/orders/"+idOf(placed[1]))
	for _, filter := range []struct {
		promise, query string
		want           []any
	}{
		{"externalOrderId filters", "externalOrderId=" + third["externalOrderId"].(string), []any{third["id"]}},
		{"externalRecipientId filters", "externalRecipientId=player-3", []any{placed[3]["id"]}},
		{"status filters", "status=CANCELLED", []any{cancelled["id"]}},
		{"brandId filters", "brandId=" + s.other, []any{elsewhere["id"]}},
		{"updatedSince filters", "updatedSince=" + url.QueryEscape(cancelled["updatedAt"].(string)), []any{cancelled["id"]}},
	} {
		t.Run(filter.promise, func(t *testing.T) { require.Equal(t, filter.want, ids(s.list(t, s.key, "/orders?"+filter.query))) })
	}
	t.Run("after and limit page", func(t *testing.T) {
		require.Len(t, s.list(t, s.key, "/orders?limit=2"), 2)
		require.Equal(t, newestFirst, ids(s.all(t, s.key, "/orders?limit=2")))
	})
	t.Run("an order changed at that very instant is included", func(t *testing.T) {
		at := url.QueryEscape(elsewhere["updatedAt"].(string))
		require.Contains(t, ids(s.list(t, s.key, "/orders?updatedSince="+at)), elsewhere["id"])
	})
	t.Run("updatedSince keeps the order of placing", func(t *testing.T) {
		s.update(t, placed[0], `"urgent": true`)
		since := "/orders?updatedSince=" + url.QueryEscape(placed[0]["updatedAt"].(string))
		require.Equal(t, newestFirst, ids(s.list(t, s.key, since)), "the latest change is the last item")
	})
	t.Run("a reader who syncs by updatedSince ends with every order as it is", func(t *testing.T) { s.syncs(t, "/orders", placed[3]) })
	t.Run("an order is read as it was answered", func(t *testing.T) { require.Equal(t, third, s.read(t, "/orders/"+idOf(third))) })
	t.Run("an order outside of the key's brands is not found", func(t *testing.T) {
		requireProblem(t, s.get(t, s.keyOf(t, s.other), "/orders/"+idOf(third)), http.StatusNotFound, "not_found")
	})
}

// syncs copies the list, changes records and then copies what has changed since.
func (s *shop) syncs(t *testing.T, list string, changing map[string]any) {
	t.Helper()
	replica, newest := map[string]map[string]any{}, ""
	load := func(query string) {
		for _, record := range s.all(t, s.key, list+"?limit=2"+query) {
			replica[idOf(record)] = record
			newest = max(newest, record["updatedAt"].(string))
		}
	}
	load("")
	s.cancel(t, list+"/"+idOf(changing))
	require.NotEqual(t, replica[idOf(changing)], s.read(t, list+"/"+idOf(changing)))
	load("&updatedSince=" + url.QueryEscape(newest))
	for _, record := range s.all(t, s.key, list+"?limit=100") {
		require.Equal(t, record, replica[idOf(record)])
	}
}
