//go:build faults

package faults_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
)

// patience bounds how long is waited for what has to come in the end.
type patience struct {
	// feed is for the way of the last events into the feed, arrive for their webhooks, whose retries are made due, stock for
	// what was reserved by who was killed.
	feed, arrive, stock time.Duration
}

func patient() patience {
	return patience{feed: 3 * time.Minute, arrive: 3 * time.Minute, stock: 2 * time.Minute}
}

// judge waits until all is quiet and holds everything against everything.
func (c *scene) judge(t *testing.T, p patience, say func(format string, args ...any)) {
	t.Helper()
	held, retries := c.settledStock(t, p.stock), c.newRetries(t)
	for _, tenant := range []string{seed.Direct, seed.Approving} {
		j := c.settled(t, tenant, p.feed)
		missing := len(j.feed) < len(j.expected())
		say("%s: %d orders, %d links, %d events in the feed; waiting for %d webhooks", tenant, len(j.orders), len(j.links), len(j.feed), len(c.awaited(j)))
		if !missing {
			waitFor(p.arrive, func() bool {
				retries.hasten(t, j)
				return c.quiet(j)
			})
			retries.tell(t.Context(), j, say)
		}
		j.ended = time.Now()
		j.effects()
		j.facts()
		j.once()
		j.orderOfRecords()
		j.causalOrder()
		for _, f := range c.followers {
			if f.tenant == tenant {
				j.followed(f)
			}
		}
		for _, e := range c.endpoints {
			if e.tenant == tenant {
				j.delivered(e)
			}
		}
	}
	say("%d times a webhook was made due, which had failed and waited for its next attempt", retries.made)
	c.hold(stock, c.began, time.Now(), held)
	c.ledger.neverOversold(c.verdict)
	c.searchPersonalData(t)
}

// settledStock waits until what is left of the stock and what orders hold add up, and says what is wrong if they do not.
func (c *scene) settledStock(t *testing.T, within time.Duration) (wrong string) {
	t.Helper()
	r := c.newReader(t, "stock", seed.Direct, "", allScopes...)
	asking := c.client.with(r.key)
	waitFor(within, func() bool {
		holding := held(c.list(t, asking, "/orders?updatedSince="+c.began.UTC().Format("2006-01-02T15:04:05Z")), c.campaign)
		remaining, ok := left(t.Context(), asking, c.campaign)
		wrong = ""
		if !ok || holding+remaining != units {
			wrong = fmt.Sprintf("of %d units orders hold %d and %d are left", units, holding, remaining)
		}
		return wrong == ""
	})
	return wrong
}

// settled reads what the services hold, waits for it in the feed, and reads the feed anew from its start.
func (c *scene) settled(t *testing.T, tenant string, within time.Duration) *judge {
	t.Helper()
	r := c.newReader(t, "judge", tenant, "", allScopes...)
	asking := c.client.with(r.key)
	full := c.followers[slices.IndexFunc(c.followers, func(f *follower) bool { return f.name == allOf+tenant })]
	j := &judge{
		verdict: c.verdict, tenant: tenant, began: c.began, deeds: c.ledger.of(tenant),
		orders: c.list(t, asking, "/orders"), links: c.list(t, asking, "/personal-links"), messages: c.messages(t, tenant),
	}
	j.index()
	expected := len(j.expected())
	waitFor(within, func() bool { return full.length() >= expected })
	// What is in the feed too often may come behind the last that was waited for.
	pauseFor(t.Context(), 3*time.Second)
	anew := newFollower(r, c.client, c.source())
	for before := -1; before < anew.length(); {
		before = anew.length()
		for _, err := anew.page(t.Context()); err != nil; _, err = anew.page(t.Context()) {
			pauseFor(t.Context(), time.Second) // The rate limit.
			require.NoError(t, t.Context().Err())
		}
	}
	j.feed, j.seenAt = anew.events, full.times()
	return j
}

// messages reads the tenant's from their table: the API lists those of one order at a time.
func (c *scene) messages(t *testing.T, tenant string) map[string]time.Time {
	t.Helper()
	rows, err := c.connect(t, "orders").Query(t.Context(), `SELECT id::text, created_at FROM order_messages WHERE tenant_id = $1 AND NOT internal`, tenant)
	require.NoError(t, err)
	posted := map[string]time.Time{}
	var id string
	var at time.Time
	_, err = pgx.ForEachRow(rows, []any{&id, &at}, func() error {
		posted[id] = at
		return nil
	})
	require.NoError(t, err)
	return posted
}

func (c *scene) list(t *testing.T, asking *client, path string) map[string]snapshot {
	t.Helper()
	records := map[string]snapshot{}
	joint := "?"
	if strings.Contains(path, "?") {
		joint = "&"
	}
	for target := path + joint + "limit=100"; target != ""; {
		a, ok := asking.exchange(t.Context(), call{method: http.MethodGet, path: target})
		require.True(t, ok, a.body)
		next, err := readList(a.body, records)
		require.NoError(t, err)
		if target = ""; next != "" {
			target = path + joint + "limit=100&after=" + next
		}
	}
	return records
}

// quiet says whether the followers and receivers of the judge's tenant have all that is for them.
func (c *scene) quiet(j *judge) bool {
	for _, f := range c.followers {
		if f.tenant == j.tenant && f.length() < len(j.inFeedOf(f.reader)) {
			return false
		}
	}
	return len(c.awaited(j)) == 0
}

func waitFor(within time.Duration, ready func() bool) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for deadline := time.Now().Add(within); time.Now().Before(deadline) && !ready(); {
		<-ticker.C
	}
}
