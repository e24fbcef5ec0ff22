package e2e_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// promiseOfTimes reads every resource that has times, with all of them set, wherever it is read: answers, lists and the feed.
// A webhook is the item of the feed, byte for byte.
func (p *platform) promiseOfTimes(t *testing.T) {
	s := p.newShop(t, true)
	gift, gone := s.richGift(t), s.richGift(t)
	s.putProduct(t, gift)
	s.putProduct(t, gone)
	gone.State = archived
	s.putProduct(t, gone)
	campaign := s.campaign(t, -1, s.putGift(t, "S"))
	campaign.ExpiresAt = timestamppb.New(time.Now().Add(time.Hour))
	s.putCampaign(t, campaign)
	order := s.place(t)
	s.write(t, idOf(order), clerk, "On its way.")
	claimed, cancelled := s.link(t), s.link(t)
	require.NoError(t, s.approveLink(t, s.coordinator, claimed))
	s.claim(t, claimed)
	a := s.post(t, s.key, "/personal-links/"+idOf(cancelled)+":cancel", `{"reason": "Another reward."}`)
	requireTimes(t, a.body, "createdAt", "cancelledAt", "updatedAt")
	s.recorded(t, s.key, idOf(order), "order.created", "order.message_posted")
	s.recorded(t, s.key, idOf(cancelled), "personal_link.created", "personal_link.cancelled")

	link := []string{"createdAt", "approvedAt", "claimedAt", "updatedAt"}
	since := "&limit=100&updatedSince=" + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339)
	for path, names := range map[string][]string{
		"/orders":                                           {"createdAt", "updatedAt"},
		"/orders/" + idOf(order):                            {"createdAt", "updatedAt"},
		"/orders/" + idOf(order) + "/messages":              {"createdAt"},
		"/personal-links":                                   append(link, "cancelledAt"),
		"/personal-links/" + idOf(claimed):                  link,
		"/personal-links/" + idOf(cancelled):                {"createdAt", "cancelledAt", "updatedAt"},
		"/events":                                           append(link, "cancelledAt", "occurredAt"),
		"/campaigns":                                        {"expiresAt"},
		"/campaigns/" + campaign.GetId():                    {"expiresAt"},
		"/catalog/products?country=SE":                      {"updatedAt"},
		"/catalog/products?country=SE" + since:              {"updatedAt"},
		"/catalog/products/" + gift.GetId() + "?country=SE": {"updatedAt"},
		"/catalog/categories":                               nil,
		"/brands":                                           nil,
		"/me":                                               nil,
	} {
		requireTimes(t, s.get(t, s.key, path).body, names...)
	}
	left, err := json.Marshal(s.changedSince(t, time.Now().Add(-time.Minute), gone.GetId()))
	require.NoError(t, err)
	requireTimes(t, string(left), "updatedAt")
	requireTimes(t, s.post(t, s.key, "/orders", s.body(t)).body, "createdAt", "updatedAt")
	requireTimes(t, s.post(t, s.key, batches, s.batchOf(t)).body, "createdAt", "updatedAt")
	requireTimes(t, s.post(t, s.key, "/orders/"+idOf(order)+":cancel", `{"reason": "Another reward."}`).body, "createdAt", "updatedAt")
}

// aboutTime finds text that is a time in whatever form.
var aboutTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)

// requireTimes demands that the members with these names have times in the body, that no others have, and that each is an
// instant of UTC that can be read.
func requireTimes(t *testing.T, body string, names ...string) {
	t.Helper()
	var content any
	require.NoError(t, json.Unmarshal([]byte(body), &content), body)
	found := map[string]bool{}
	eachMember(content, func(name string, value any) {
		text, isText := value.(string)
		if value == nil || !strings.HasSuffix(name, "At") && !aboutTime.MatchString(text) {
			return
		}
		require.True(t, isText, "%s: %v", name, value)
		require.Regexp(t, instant, text, name)
		_, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err, name)
		found[name] = true
	})
	require.ElementsMatch(t, names, slices.Collect(maps.Keys(found)), body)
}

// eachMember goes through the members of all records in the content.
func eachMember(content any, do func(name string, value any)) {
	switch content := content.(type) {
	case []any:
		for _, element := range content {
			eachMember(element, do)
		}
	case map[string]any:
		for name, value := range content {
			do(name, value)
			eachMember(value, do)
		}
	}
}
