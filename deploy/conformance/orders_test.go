package conformance_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func testOrderLists(t *testing.T, p *platform) {
	f := newFixture(t, p)
	var placed []record
	for i := range 5 {
		placed = append(placed, f.place(t, with("externalRecipientId", fmt.Sprintf("player-%d", i))))
	}
	elsewhere := f.place(t, with("brandId", f.other))
	people := []record{f.placeAs(t, f.member), f.placeAs(t, operator)}
	claimed := f.claimed(t)
	newestFirst := slices.Concat(ids(placed...), ids(elsewhere), ids(people...), []any{claimed["orderId"]})
	slices.Reverse(newestFirst)
	requirement(t, "ORL-1", func(t *testing.T) {
		require.Equal(t, newestFirst, ids(f.list(t, f.key, "/orders")...))
		require.Equal(t, []any{elsewhere["id"]}, ids(f.list(t, f.newKey(t, ofBrand(f.other)), "/orders")...))
	})
	requirement(t, "ORL-2", func(t *testing.T) {
		found := map[any]bool{}
		for _, order := range f.list(t, f.key, "/orders") {
			found[order["source"]] = true
		}
		require.Equal(t, map[any]bool{"API": true, "WORKSPACE": true, "BACKOFFICE": true, "PERSONAL_LINK": true}, found)
	})
	third := placed[2]
	cancelled := f.cancel(t, "/orders/"+idOf(placed[1]))
	for _, filter := range []struct {
		id, query string
		want      []any
	}{
		{"ORL-3", "externalOrderId=" + third["externalOrderId"].(string), []any{third["id"]}},
		{"ORL-4", "externalRecipientId=player-3", []any{placed[3]["id"]}},
		{"ORL-5", "status=CANCELLED", []any{cancelled["id"]}},
		{"ORL-6", "brandId=" + f.other, []any{elsewhere["id"]}},
		{"ORL-7", "updatedSince=" + url.QueryEscape(cancelled["updatedAt"].(string)), []any{cancelled["id"]}},
	} {
		requirement(t, filter.id, func(t *testing.T) {
			require.Equal(t, filter.want, ids(f.list(t, f.key, "/orders?"+filter.query)...))
			require.Empty(t, f.list(t, f.key, "/orders?status=COMPLETED&"+strings.Replace(filter.query, "status", "externalOrderId", 1)))
		})
	}
	requirement(t, "ORL-8", func(t *testing.T) {
		require.Len(t, f.list(t, f.key, "/orders?limit=2"), 2)
		require.Equal(t, newestFirst, ids(f.All(t, f.key, "/orders?limit=2")...))
	})
	requirement(t, "ORL-10", func(t *testing.T) {
		at := url.QueryEscape(elsewhere["updatedAt"].(string))
		require.Contains(t, ids(f.list(t, f.key, "/orders?updatedSince="+at)...), elsewhere["id"])
	})
	requirement(t, "ORL-9", func(t *testing.T) {
		f.update(t, placed[0], `"urgent": true`)
		since := "/orders?updatedSince=" + url.QueryEscape(placed[0]["updatedAt"].(string))
		require.Equal(t, newestFirst, ids(f.list(t, f.key, since)...), "the latest change is the last item")
	})
	requirement(t, "ORL-11", func(t *testing.T) { f.requireSync(t, "/orders", placed[3]) })
	requirement(t, "ORL-12", func(t *testing.T) { require.Equal(t, third, f.read(t, "/orders/"+idOf(third))) })
	requirement(t, "ORL-13", func(t *testing.T) {
		f.Get(t, f.newKey(t, ofBrand(f.other)), "/orders/"+idOf(third)).Problem(t, "not_found")
	})
}

// requireSync copies the list, changes a record and then copies what has changed since.
func (f *fixture) requireSync(t *testing.T, list string, changing record) {
	t.Helper()
	replica, newest := map[string]record{}, ""
	load := func(query string) {
		for _, r := range f.All(t, f.key, list+"?limit=2"+query) {
			replica[idOf(r)] = r
			newest = max(newest, r["updatedAt"].(string))
		}
	}
	load("")
	f.cancel(t, list+"/"+idOf(changing))
	require.NotEqual(t, replica[idOf(changing)], f.read(t, list+"/"+idOf(changing)))
	load("&updatedSince=" + url.QueryEscape(newest))
	for _, r := range f.All(t, f.key, list+"?limit=100") {
		require.Equal(t, r, replica[idOf(r)])
	}
}
