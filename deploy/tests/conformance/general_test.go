package conformance_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// instant matches a time as the API writes it.
const instant = `^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?Z$`

func testGeneral(t *testing.T, p *platform) {
	f := newFixture(t, p)
	order, link := f.place(t), f.link(t)
	orderPath, linkPath := "/orders/"+idOf(order), "/personal-links/"+idOf(link)
	f.requireEvents(t, f.key, idOf(link), "personal_link.created")
	reads := []string{
		"/me", "/brands", "/catalog/categories", "/catalog/products?country=SE&limit=5", "/campaigns", "/orders", orderPath,
		orderPath + "/messages", "/personal-links", linkPath, "/events",
	}
	requirement(t, "GEN-1", func(t *testing.T) {
		for _, path := range reads {
			a := f.Get(t, f.key, path)
			require.Equal(t, http.StatusOK, a.Status, path)
			require.Equal(t, "application/json", a.Header.Get("Content-Type"), path)
		}
	})
	requirement(t, "GEN-2", func(t *testing.T) {
		f.Get(t, "", "/me").Problem(t, "invalid_api_key") // There are only a few, because failed authentication is limited by address.
		f.Get(t, f.key, "/nothing").Problem(t, "not_found")
		f.Get(t, f.key, "/orders?limit=0").Problem(t, "invalid_request")
		f.Post(t, f.key, "/orders", "{}").Problem(t, "invalid_request")
	})
	requirement(t, "GEN-3", func(t *testing.T) {
		request := f.Request(t, call{Method: http.MethodGet, Path: "/me", Key: f.key})
		require.Equal(t, "/api/public/v1/me", request.URL.Path)
		request.URL.Path = "/api/public/v2/me"
		require.Equal(t, http.StatusNotFound, harness.Exchange(t, request).Status)
	})
	for id, key := range map[string]string{"GEN-5": newFixture(t, p).key, "GEN-6": f.newKey(t, ofBrand(f.other))} {
		requirement(t, id, func(t *testing.T) {
			for _, path := range []string{orderPath, orderPath + "/messages", linkPath} {
				f.Get(t, key, path).Problem(t, "not_found")
			}
			for _, path := range []string{
				orderPath + ":update-delivery", orderPath + ":cancel", orderPath + "/messages", linkPath + ":cancel",
			} {
				f.Post(t, key, path, `{"reason": "x", "body": "x", "expectedVersion": 0}`).Problem(t, "not_found")
			}
			require.Empty(t, f.list(t, key, "/orders"))
			require.Empty(t, f.list(t, key, "/personal-links"))
			require.Empty(t, f.Feed(t, key))
		})
	}
	requirement(t, "GEN-8", func(t *testing.T) { newFixture(t, p, approving).testTimes(t) })
	requirement(t, "GEN-7", func(t *testing.T) {
		for _, path := range reads {
			harness.RequireNoPersonalData(t, f.Get(t, f.key, path).Body)
		}
	})
}

// testTimes reads every resource with all its times set: in answers, in lists and in the feed. A webhook has the bytes of the
// feed's item.
func (f *fixture) testTimes(t *testing.T) {
	t.Helper()
	gift, gone := f.richGift(t), f.richGift(t)
	f.putInState(t, gone, archived)
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	campaign.ExpiresAt = timestamppb.New(time.Now().Add(time.Hour))
	f.putCampaign(t, campaign)
	order := f.place(t)
	f.postMessageAs(t, idOf(order), operator, "On its way.")
	claimed, cancelled := f.link(t), f.link(t)
	require.NoError(t, f.approveLink(t, f.coordinator, claimed))
	f.claim(t, claimed)
	const reason = `{"reason": "Another reward."}`
	requireTimes(t, f.Post(t, f.key, "/personal-links/"+idOf(cancelled)+":cancel", reason).Body,
		"createdAt", "cancelledAt", "updatedAt")
	f.requireEvents(t, f.key, idOf(order), "order.created", "order.message_posted")
	f.requireEvents(t, f.key, idOf(cancelled), "personal_link.created", "personal_link.cancelled")

	both, link := []string{"createdAt", "updatedAt"}, []string{"createdAt", "approvedAt", "claimedAt", "updatedAt"}
	for path, names := range map[string][]string{
		"/orders":                                           both,
		"/orders/" + idOf(order):                            both,
		"/orders/" + idOf(order) + "/messages":              {"createdAt"},
		"/personal-links":                                   append(link, "cancelledAt"),
		"/personal-links/" + idOf(claimed):                  link,
		"/personal-links/" + idOf(cancelled):                {"createdAt", "cancelledAt", "updatedAt"},
		"/events":                                           append(link, "cancelledAt", "occurredAt"),
		"/campaigns":                                        {"expiresAt"},
		"/campaigns/" + campaign.GetId():                    {"expiresAt"},
		"/catalog/products?country=SE":                      {"updatedAt"},
		"/catalog/products/" + gift.GetId() + "?country=SE": {"updatedAt"},
		"/catalog/categories":                               nil,
		"/brands":                                           nil,
		"/me":                                               nil,
	} {
		requireTimes(t, f.Get(t, f.key, path).Body, names...)
	}
	requireTimes(t, harness.JSON(t, f.changedSince(t, time.Now().Add(-time.Minute), gone.GetId())), "updatedAt")
	requireTimes(t, f.Post(t, f.key, "/orders", f.body(t)).Body, both...)
	requireTimes(t, f.Post(t, f.key, batches, f.batchOf(t)).Body, both...)
	requireTimes(t, f.Post(t, f.key, "/orders/"+idOf(order)+":cancel", reason).Body, both...)
}

// aboutTime matches a time in any form.
var aboutTime = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}`)

// requireTimes checks that exactly the members with these names have times in the body, and that each is an instant in UTC.
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

// eachMember visits the members of all records in the content.
func eachMember(content any, visit func(name string, value any)) {
	switch content := content.(type) {
	case []any:
		for _, element := range content {
			eachMember(element, visit)
		}
	case record:
		for name, value := range content {
			visit(name, value)
			eachMember(value, visit)
		}
	}
}

// fileForm finds the addresses of the files of a page.
var fileForm = regexp.MustCompile(`(?:src|href)="([^"]+)"`)

func testConsole(t *testing.T, p *platform) {
	base := strings.TrimSuffix(p.Env["GIFTING_URL"], "/api/public/v1")
	page := harness.Visit(t, base+"/sandbox")
	requirement(t, "CSL-1", func(t *testing.T) {
		require.Equal(t, http.StatusOK, page.Status)
		require.Equal(t, "text/html; charset=utf-8", page.Header.Get("Content-Type"))
		files := fileForm.FindAllStringSubmatch(page.Body, -1)
		require.NotEmpty(t, files)
		for _, file := range files {
			require.Equal(t, http.StatusOK, harness.Visit(t, base+file[1]).Status, file[1])
		}
	})
	requirement(t, "CSL-2", func(t *testing.T) {
		policy := page.Header.Get("Content-Security-Policy")
		for _, directive := range []string{"default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"} {
			require.Contains(t, policy, directive)
		}
		require.NotContains(t, policy, "unsafe")
		require.NotContains(t, page.Body, "://")
	})
}
