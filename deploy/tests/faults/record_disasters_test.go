//go:build faults

package faults_test

import (
	"context"
	"maps"
	"net/http"
	"path"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

// recordDisasters are those of the databases of records. What they lose is lost for good: the commands of the runbook must repair
// what depends on it, and name the rest.
func recordDisasters() []disaster {
	return []disaster{linksBack(), ordersBack(), catalogBack(), tenantsBack()}
}

const claimedLink, activeLink = "CLAIMED", "ACTIVE"

// linksBack sets the links back. Links that had been claimed can be claimed again, but have their orders already.
func linksBack() disaster {
	one := disaster{name: "links database back", prepare: backUp(map[string]string{"links": "links"}), after: reportsNothingNew}
	one.options.ownServers = []string{"links"}
	one.goBack = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		d.gate.Lock()
		defer d.gate.Unlock()
		l := d.goBackQuietly(ctx, t, "links")
		// Claims that were in flight when the backup was taken are finished without a player.
		d.awaitNone(ctx, t, "links", "SELECT count(*) FROM links WHERE claim_order_id IS NOT NULL")
		l.after = d.recordsOf(ctx, t, "links")
		unclaimed := l.earlier(func(before, after record) bool { return before.status == claimedLink && after.status != claimedLink })
		// One that waits for its approval again can only be claimed by the runbook.
		again := l.earlier(func(before, after record) bool { return before.status == claimedLink && after.status == activeLink })
		again = again[:len(again)/2]
		for _, id := range again {
			if !d.claimAgain(ctx, id, l.before[id].partner) {
				return
			}
		}
		d.left = reconciled{"order_of_missing_link": l.gone(func(before record) bool { return before.status == claimedLink })}
		want := maps.Clone(d.left)
		want["link_not_claimed"] = without(unclaimed, again)
		d.printf("%d links are not claimed any more, %d of them are claimed again by their players", len(unclaimed), len(again))
		d.requireReported(d.reconcile(ctx, t, ""), want)
		d.requireReported(d.reconcile(ctx, t, "--repair"), d.left)
	}
	return one
}

// claimAgain is the player, who opens the link once more. The answer must be the first order. It reports whether there was an
// answer.
func (d *drill) claimAgain(ctx context.Context, link, orderID string) bool {
	began := time.Now()
	for _, w := range d.writers {
		d.history.lock.Lock()
		at := slices.IndexFunc(d.history.records[w.tenant], func(s snapshot) bool { return s.ID == link })
		var known snapshot
		if at >= 0 {
			known = d.history.records[w.tenant][at]
		}
		d.history.lock.Unlock()
		if at < 0 || w.limited {
			continue
		}
		var state linksv1.ClaimState
		answered := w.operate(ctx, "claim again", nil, func(ctx context.Context) error {
			r, err := w.giftSite.ClaimLink(ctx, claim(path.Base(known.ClaimURL), w.product))
			state = r.GetState()
			return err
		})
		if !answered {
			return false
		}
		claimed, ok := w.get(ctx, "/personal-links/"+link)
		d.require(ok && state == linksv1.ClaimState_CLAIM_STATE_CLAIMED && claimed.OrderID != nil && *claimed.OrderID == orderID,
			effect, began, time.Now(), "link %s is claimed again: %s, its first order is %s", link, claimed.raw, orderID)
		return true
	}
	return true
}

// reportsNothingNew requires that the load after the disaster has left no further difference.
func reportsNothingNew(ctx context.Context, t *testing.T, d *drill) {
	t.Helper()
	d.awaitOutboxes(ctx, t)
	d.requireReported(d.reconcile(ctx, t, ""), d.left)
}

// ordersBack sets the orders back. Stock, links and feed know of orders that are gone, and of later states of others.
func ordersBack() disaster {
	one := disaster{name: "orders database back", prepare: backUp(map[string]string{"orders": "orders"}), after: reportsNothingNew}
	one.options.ownServers = []string{"orders"}
	one.goBack = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		d.gate.Lock()
		defer d.gate.Unlock()
		l := d.goBackQuietly(ctx, t, "orders")
		isOrder := func(before record) bool { return before.status != "message" }
		lost := l.gone(isOrder)
		require.NotEmpty(t, lost)
		d.left = reconciled{
			"events_without_order":       lost,
			"link_without_order":         l.gone(func(before record) bool { return before.partner != "" }),
			"order_older_than_its_event": l.earlier(func(before, _ record) bool { return isOrder(before) }),
		}
		want := maps.Clone(d.left)
		want["stock_not_held"], want["stock_held_without_order"] = d.compareUnits(ctx, t)
		d.requireReported(d.reconcile(ctx, t, ""), want)
		oversold := d.reconcile(ctx, t, "--repair")["stock_not_held"]
		d.cancelOrders(ctx, t, oversold)
		d.left["order_older_than_its_event"] = without(d.left["order_older_than_its_event"], oversold)
		d.awaitOutboxes(ctx, t)
		d.requireReported(d.reconcile(ctx, t, ""), d.left)
	}
	return one
}

// cancelOrders is the person who decides about orders that hold no unit.
func (d *drill) cancelOrders(ctx context.Context, t *testing.T, ids []string) {
	t.Helper()
	at := slices.IndexFunc(d.writers, func(w *writer) bool { return w.campaign != "" && !w.limited })
	require.GreaterOrEqual(t, at, 0)
	w := d.writers[at]
	for _, id := range ids {
		w.post(ctx, "/orders/"+id+":cancel", cancellation, w.noteOrder(func(snapshot, *change) {}))
	}
}

const fewUnits = 2

// catalogBack sets the catalog back. Orders hold no unit any more, and those of a small campaign are sold a second time.
func catalogBack() disaster {
	one := disaster{name: "catalog database back", after: reportsNothingNew}
	one.options.ownServers = []string{"catalog"}
	campaign := uuid.NewString()
	one.prepare = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		d.putCampaign(t, campaign, fewUnits)
		backUp(map[string]string{"catalog": "reservations"})(ctx, t, d)
		d.orderUnits(ctx, t, campaign)
	}
	one.goBack = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		d.gate.Lock()
		defer d.gate.Unlock()
		d.awaitOutboxes(ctx, t)
		restoreAll(ctx, t, d)
		d.orderUnits(ctx, t, campaign)
		d.awaitNone(ctx, t, "catalog", "SELECT count(*) FROM reservations WHERE state = 'RESERVED'")
		missing, surplus := d.compareUnits(ctx, t)
		d.requireReported(d.reconcile(ctx, t, ""), reconciled{"stock_not_held": missing, "stock_held_without_order": surplus})
		oversold := d.reconcile(ctx, t, "--repair")
		d.require(len(oversold["stock_not_held"]) == fewUnits, loss, d.prepared, time.Now(),
			"%d orders of the small campaign hold no unit, reconcile reports %v", fewUnits, oversold)
		d.cancelOrders(ctx, t, oversold["stock_not_held"])
		d.awaitOutboxes(ctx, t)
		d.requireReported(d.reconcile(ctx, t, ""), nil)
	}
	return one
}

// orderUnits orders all units of the small campaign.
func (d *drill) orderUnits(ctx context.Context, t *testing.T, campaign string) {
	t.Helper()
	w := d.writers[slices.IndexFunc(d.writers, func(w *writer) bool { return w.campaign != "" && !w.limited })]
	for range fewUnits {
		body := orderBody(w.product, w.brand)
		body["campaignId"] = campaign
		placed := false
		other := *w // Its steps go on meanwhile, with a random source of their own.
		other.random, other.requests = d.draw, nil
		other.post(ctx, "/orders", toJSON(body), w.noteOrder(func(snapshot, *change) { placed = true }))
		require.True(t, placed, "%v", d.violations())
	}
}

// awaitNone waits until a query counts nothing more, such as what was in flight when the backup was taken.
func (d *drill) awaitNone(ctx context.Context, t *testing.T, database, count string) {
	t.Helper()
	none := waitFor(2*catchUp, func() bool { return queryOne[int](ctx, t, d.urlOf(t, database), count) == 0 })
	require.True(t, none, count)
}

// compareUnits returns the orders that catalog holds no unit for, and the reservations whose orders do not exist or were cancelled.
func (d *drill) compareUnits(ctx context.Context, t *testing.T) (missing, surplus []string) {
	t.Helper()
	read := func(database, statement string) []string {
		return query[string](ctx, t, d.urlOf(t, database), statement)
	}
	orders := read("orders", "SELECT id::text FROM orders WHERE campaign_id IS NOT NULL AND status <> 'CANCELLED' ORDER BY id")
	held := read("catalog", "SELECT order_id::text FROM reservations WHERE state <> 'RELEASED'")
	confirmed := read("catalog", "SELECT DISTINCT order_id::text FROM reservations WHERE state = 'CONFIRMED' ORDER BY 1")
	return without(orders, held), without(confirmed, orders)
}

// without returns the ids of all that are not among the others.
func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(id string) bool { return slices.Contains(others, id) })
}

// tenantsBack sets the tenants back. Keys are what the restored database says, and copies elsewhere follow it.
func tenantsBack() disaster {
	var later reader
	var revoked reader
	one := disaster{name: "tenants database back"}
	one.options.ownServers = []string{"tenants"}
	one.prepare = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		tenant := d.writers[len(d.writers)-1].tenant
		revoked = d.newReader(t, "revoked later", tenant, "", allScopes...)
		backUp(map[string]string{"tenants": "api_keys"})(ctx, t, d)
		later = d.newReader(t, "made later", tenant, "", allScopes...)
		d.revoke(ctx, revoked)
		for _, r := range []reader{later, revoked} {
			d.client.with(r.key).mustAnswer(ctx, t, r.key == later.key)
		}
	}
	one.goBack = func(ctx context.Context, t *testing.T, d *drill) {
		t.Helper()
		d.gate.Lock()
		restoreAll(ctx, t, d)
		sleep(ctx, checkedWithin)
		d.gate.Unlock()
		d.client.with(later.key).mustAnswer(ctx, t, false)
		d.client.with(revoked.key).mustAnswer(ctx, t, true)
		lookUps := d.countLookUps(ctx, t, revoked.key)
		d.printf("the gateways look up a key %.0f times for %d requests", lookUps, requestsOfKey)
		d.require(lookUps < requestsOfKey/2, flat, d.wentBack, time.Now(),
			"the gateways look up a key %.0f times for %d requests", lookUps, requestsOfKey)
		made, err := d.createKey(ctx, "made after the restore", later.tenant, "", allScopes...)
		require.NoError(t, err)
		d.require(made.keyID > later.keyID, leak, d.prepared, time.Now(), "key %d has the id of a lost key, %d", made.keyID, later.keyID)
	}
	return one
}

const (
	// checkedWithin is how long the tenants service and the gateways may work with what was before: the interval of its check, and the
	// time for which a copy is used.
	checkedWithin = 18 * time.Second
	// waitForCopies is longer than a copy is used.
	waitForCopies = 7 * time.Second
	// requestsOfKey are sent with one key while nothing else happens. Fewer than half of them may look the key up.
	requestsOfKey = 60
	// pauseOfRedis is longer than the gateways do without Redis, and so look up each key, after the load has slowed it down.
	pauseOfRedis = 2 * time.Second
)

// mustAnswer requires that each gateway accepts the key, or that each refuses it.
func (c *client) mustAnswer(ctx context.Context, t *testing.T, valid bool) {
	t.Helper()
	for range c.bases {
		began, a := time.Now(), answer{}
		waitFor(waitForCopies, func() bool {
			var ok bool
			a, ok = c.send(ctx, call{method: http.MethodGet, path: "/orders?limit=1", problems: []string{invalidKey}})
			return ok && a.success() == valid
		})
		c.results.require(a.success() == valid, leak, began, time.Now(), "the key must be valid: %t, the answer is %d %s", valid,
			a.status, a.body)
	}
}

// countLookUps is how often the gateways look up a key while requests with it are all that they get.
func (d *drill) countLookUps(ctx context.Context, t *testing.T, key string) float64 {
	t.Helper()
	calls := func() (total float64) {
		for _, i := range d.of(identity.Tenants) {
			for _, n := range i.metric(ctx, t, "rpc_server_call_duration_seconds_count{", "ResolveKey") {
				total += n
			}
		}
		return total
	}
	d.gate.Lock()
	defer d.gate.Unlock()
	sleep(ctx, pauseOfRedis)
	c, before := d.client.with(key), calls()
	for range requestsOfKey {
		c.send(ctx, call{method: http.MethodGet, path: "/me"})
	}
	return calls() - before
}
