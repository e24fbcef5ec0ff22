package conformance_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

func testOrders(t *testing.T, p *platform) {
	f := newFixture(t, p)
	gift := f.putGift(t, "S", "M")
	campaign := f.campaign(t, 50, gift)
	plain := f.place(t)
	everything := []change{
		ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small()), with("urgent", true), with("externalOrderId", "mine"),
	}
	for _, text := range orderTexts {
		everything = append(everything, with(text.path, "my "+text.inRecord))
	}
	full := f.place(t, append(everything, with("externalRecipientId", "player-1"))...)
	asked := f.place(t, custom("99.5", "SEK"))
	link := f.claimed(t, recipient("externalRecipientId", "player-9"))
	claimed := f.orderOf(t, link)
	team, backoffice := f.placeAs(t, f.member), f.placeAs(t, operator)

	for _, c := range []struct {
		id, name string
		order    record
		want     any
	}{
		{"ORD-8", "source", plain, "API"},
		{"ORD-9", "source", claimed, "PERSONAL_LINK"},
		{"ORD-10", "source", team, "WORKSPACE"},
		{"ORD-11", "source", backoffice, "BACKOFFICE"},
		{"ORD-12", "brandId", full, f.brand},
		{"ORD-15", "personalLinkId", claimed, link["id"]},
		{"ORD-18", "urgent", full, true},
		{"ORD-24", "items", full, []any{record{
			"kind": "CATALOG", "productId": gift.GetId(), "productName": "Umbrella", "variations": record{"Size": "S"},
		}}},
		{"ORD-25", "items", asked, []any{record{
			"kind": "CUSTOM", "productId": nil, "productName": "A signed jersey", "variations": record{},
		}}},
	} {
		requirement(t, c.id, func(t *testing.T) { require.Equal(t, c.want, c.order[c.name]) })
	}
	f.testNulls(t, "ORD-4", "externalOrderId", record{"mine": full}, claimed, team, backoffice)
	f.testNulls(t, "ORD-5", "externalRecipientId", record{"player-1": full, "player-9": claimed}, plain)
	for _, text := range orderTexts {
		if text.inRecord != "" {
			f.testNulls(t, text.inRecord, text.path, record{"my " + text.inRecord: full}, plain, claimed, team, backoffice)
		}
	}
	f.testNulls(t, "ORD-13", "campaignId", record{campaign.GetId(): full}, plain, asked, claimed)
	f.testNulls(t, "ORD-14", "selection", record{"CATALOG": claimed}, plain, full, team)
	all := []record{plain, full, asked, claimed, team, backoffice}
	f.testEveryOrder(t, full, team, all)
	requirement(t, "ORD-3", func(t *testing.T) {
		require.InDelta(t, 0, plain["version"], 0)
		require.InDelta(t, 1, f.cancel(t, "/orders/"+idOf(plain))["version"], 0)
	})
	requirement(t, "ORD-21", func(t *testing.T) {
		requireNull(t, plain, "cancellationReason")
		require.Equal(t, "Another reward.", f.read(t, "/orders/"+idOf(plain))["cancellationReason"])
	})
	sent := f.dispatch(t, idOf(full))
	requirement(t, "ORD-20", func(t *testing.T) {
		require.Equal(t, []any{}, full["shipments"])
		require.Len(t, sent["shipments"], 1)
	})
	requirement(t, "ORD-26", func(t *testing.T) {
		require.Equal(t, []any{record{
			"carrier": "Post", "trackingReference": "T-1", "trackingUrl": "https://carrier.example/T-1",
		}}, sent["shipments"])
	})
	f.testAuthors(t, idOf(full))
}

// testEveryOrder reads the fields of all orders. full goes to Sweden, team to Ireland.
func (f *fixture) testEveryOrder(t *testing.T, full, team record, all []record) {
	requirement(t, "ORD-1", func(t *testing.T) {
		for _, order := range all {
			require.NoError(t, uuid.Validate(idOf(order)))
		}
	})
	requirement(t, "ORD-2", func(t *testing.T) {
		for _, order := range all {
			require.Regexp(t, `^G[A-Z]-[0-9A-Z]{5}-[0-9A-Z]{5}$`, order["reference"])
		}
	})
	requirement(t, "ORD-16", func(t *testing.T) {
		for _, order := range all {
			require.Len(t, order["items"], 1)
		}
	})
	requirement(t, "ORD-17", func(t *testing.T) {
		require.Equal(t, "SE", full["deliveryCountry"])
		require.Equal(t, "IE", team["deliveryCountry"])
		raw := f.Get(t, f.key, "/orders?limit=100").Body
		for _, part := range []string{"Visby", "621 57", "Dublin", harness.MarkedStreet} {
			require.NotContains(t, raw, part)
		}
	})
	for id, name := range map[string]string{"ORD-22": "createdAt", "ORD-23": "updatedAt"} {
		requirement(t, id, func(t *testing.T) {
			for _, order := range all {
				require.Regexp(t, instant, order[name])
			}
		})
	}
}

// testNulls checks that the member has a value in the record set, and is null in the others.
func (f *fixture) testNulls(t *testing.T, id, name string, set record, others ...record) {
	t.Helper()
	requirement(t, id, func(t *testing.T) {
		for want, order := range set {
			require.Equal(t, want, order.(record)[name])
		}
		for _, order := range others {
			requireNull(t, order, name)
		}
	})
}

// testAuthors posts a message by each kind of author.
func (f *fixture) testAuthors(t *testing.T, orderID string) {
	path := "/orders/" + orderID + "/messages"
	own := f.Post(t, f.key, path, `{"body": "Of the key."}`)
	require.Equal(t, http.StatusCreated, own.Status, own.Body)
	client := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_CLIENT, Id: uuid.NewString(), Name: "Cleo"}
	system := &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM}
	for _, author := range []*commonv1.Actor{f.member, client, operator, system} {
		f.postMessageAs(t, orderID, author, "Of another.")
	}
	authors := map[any]record{}
	messages := f.messages(t, f.key, orderID)
	for _, message := range messages {
		author, _ := message["author"].(record)
		authors[author["kind"]] = author
	}
	requirement(t, "ORD-27", func(t *testing.T) {
		first := messages[slices.IndexFunc(messages, func(m record) bool { return m["id"] == own.Object(t)["id"] })]
		require.ElementsMatch(t, []string{"id", "author", "body", "createdAt"}, namesOf(first))
		require.NoError(t, uuid.Validate(idOf(first)))
		require.Equal(t, "Of the key.", first["body"])
		require.Regexp(t, instant, first["createdAt"])
	})
	operatorsName, _ := authors["BACKOFFICE_ACCOUNT"]["name"].(string)
	for _, c := range []struct{ id, kind, name string }{
		{"ORD-28", "API_KEY", "Conformance key"},
		{"ORD-29", "TENANT_ACCOUNT", "Mia"},
		{"ORD-30", "TENANT_CLIENT", "Cleo"},
		{"ORD-32", "SYSTEM", operatorsName},
	} {
		requirement(t, c.id, func(t *testing.T) { require.Equal(t, c.name, authors[c.kind]["name"]) })
	}
	requirement(t, "ORD-31", func(t *testing.T) {
		require.NotEmpty(t, operatorsName)
		require.NotEqual(t, operator.GetName(), operatorsName)
	})
}

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
