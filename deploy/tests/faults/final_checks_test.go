//go:build faults

package faults_test

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
)

// timeouts bound the wait for the final state: for the last events in the feed, for their webhooks, whose retries are made due,
// and for what the orders service does by itself: the release of stock that a killed instance had reserved, and the steps of
// orders.
type timeouts struct{ feed, webhooks, stock time.Duration }

// checkAll waits for the final state and checks all invariants.
func (f *fixture) checkAll(t *testing.T, within timeouts, printf func(format string, args ...any)) {
	t.Helper()
	f.checkDropped(t)
	f.awaitStock(t, within.stock)
	madeDue := 0
	for _, tenant := range []string{seed.Direct, seed.Approving} {
		retries := f.newRetries(t, tenant)
		c := f.readFinalState(t, tenant, within)
		printf("%s: %d orders, %d links, %d events in the feed; waiting for %d webhooks",
			tenant, len(c.orders), len(c.links), len(c.feed), len(f.missingWebhooks(c)))
		if len(c.feed) >= len(c.expected()) {
			waitFor(within.webhooks, func() bool {
				retries.makeAllDue(t, c)
				return f.complete(c)
			})
			retries.printMissing(t.Context(), c, printf)
		}
		madeDue += retries.madeDue
		c.ended = time.Now()
		c.checkEffects()
		printf("%d steps that orders took by themselves", c.checkSteps())
		c.checkContent()
		c.checkExactlyOnce()
		c.checkRecordOrder()
		c.checkCausalOrder()
		for _, of := range f.followers {
			if of.tenant == tenant {
				c.checkFollower(of)
			}
		}
		for _, to := range f.endpoints {
			if to.tenant == tenant {
				c.checkDelivery(to)
			}
		}
	}
	printf("%d failed webhooks were made due before their next attempt", madeDue)
	f.history.checkOversold(f.results)
	f.searchPersonalData(t)
}

// awaitStock waits until remaining and held units add up.
func (f *fixture) awaitStock(t *testing.T, within time.Duration) {
	t.Helper()
	by := f.client.with(f.newReader(t, "stock", seed.Direct, "", allScopes...).key)
	held, remaining := 0, -1
	addUp := waitFor(within, func() bool {
		held = heldUnits(f.list(t, by, "/orders?updatedSince="+f.began.UTC().Format("2006-01-02T15:04:05Z")), f.campaign)
		if n, ok := remainingUnits(t.Context(), by, f.campaign); ok {
			remaining = n
		}
		return held+remaining == units
	})
	f.require(addUp, stock, f.began, time.Now(), "of %d units orders hold %d and %d remain", units, held, remaining)
}

// readFinalState reads the stored records once all orders are where they stop, waits for their events in the feed, and reads
// the feed again from the start.
func (f *fixture) readFinalState(t *testing.T, tenant string, within timeouts) *checker {
	t.Helper()
	r := f.newReader(t, "checker", tenant, "", allScopes...)
	by := f.client.with(r.key)
	all := f.followers[slices.IndexFunc(f.followers, func(of *follower) bool { return of.name == allOf+tenant })]
	c := &checker{
		results: f.results, tenant: tenant, began: f.began, redriven: f.redriven, changes: f.history.of(tenant),
		byEvent: map[eventName]change{}, brands: map[string]string{},
		paced: f.history.paced, links: f.list(t, by, "/personal-links"), messages: f.messages(t, tenant),
	}
	waitFor(within.stock, func() bool {
		c.orders = f.list(t, by, "/orders")
		return len(c.underway()) == 0
	})
	for _, of := range c.changes {
		for _, e := range of.events {
			c.byEvent[e] = of
		}
	}
	expected := len(c.expected())
	waitFor(within.feed, func() bool { return all.length() >= expected })
	// A duplicate may arrive after the last expected event.
	sleep(t.Context(), 3*time.Second)
	again := newFollower(r, f.client, f.newRandom())
	for before := -1; before < again.length(); {
		before = again.length()
		for _, err := again.readPage(t.Context()); err != nil; _, err = again.readPage(t.Context()) {
			sleep(t.Context(), time.Second) // The wait is for the rate limit.
			require.NoError(t, t.Context().Err())
		}
	}
	c.feed, c.seenAt = again.events, all.times()
	for _, e := range c.feed {
		if e.kind != messagePosted && e.record.BrandID != "" {
			c.brands[e.subject] = e.record.BrandID
		}
	}
	return c
}

// messages reads the tenant's messages from their table, because the API lists those of one order at a time.
func (f *fixture) messages(t *testing.T, tenant string) map[string]time.Time {
	t.Helper()
	rows, err := f.connect(t, inCell(f.cellOf(t, tenant), "orders")).Query(t.Context(),
		`SELECT id::text, created_at FROM order_messages WHERE tenant_id = $1 AND NOT internal`, tenant)
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

// list reads all pages of a list, by id.
func (f *fixture) list(t *testing.T, by *client, path string) map[string]snapshot {
	t.Helper()
	records, separator := map[string]snapshot{}, "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	path += separator + "limit=100"
	for target := path; target != ""; {
		a, ok := by.send(t.Context(), call{method: http.MethodGet, path: target})
		require.True(t, ok, a.body)
		page, next, err := parsePage(a.body, parseRecord)
		require.NoError(t, err)
		for _, r := range page {
			records[r.ID] = r
		}
		if target = ""; next != "" {
			target = path + "&after=" + next
		}
	}
	return records
}

// complete reports whether the tenant's followers and endpoints have all their events.
func (f *fixture) complete(c *checker) bool {
	for _, of := range f.followers {
		if of.tenant == c.tenant && of.length() < len(c.feedOf(of.reader)) {
			return false
		}
	}
	return len(f.missingWebhooks(c)) == 0
}

// waitFor reports whether it becomes ready within the time.
func waitFor(within time.Duration, ready func() bool) bool {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for deadline := time.Now().Add(within); time.Now().Before(deadline); <-ticker.C {
		if ready() {
			return true
		}
	}
	return false
}

// searchPersonalData looks for the marked values in everything that the platform stores or writes: logs, databases, Redis
// and the files of Kafka. No log may contain a panic.
func (f *fixture) searchPersonalData(t *testing.T) {
	t.Helper()
	search := func(where, text string) {
		if violation := findPersonal(where, text); violation != "" {
			f.failed(leak, f.began, time.Now(), "%s", violation)
		}
	}
	eachFile(t, f.logs, func(name, text string) {
		search(name, text)
		for _, crash := range []string{"panic: ", `"msg":"panic"`, "fatal error: "} {
			if strings.Contains(text, crash) {
				f.failed(answers, f.began, time.Now(), "%s has %q", name, crash)
			}
		}
	})
	eachFile(t, filepath.Join(filepath.Dir(f.config.Dir), "kafka"), search)
	for _, database := range f.config.Databases() {
		for _, row := range harness.Rows(t, f.connect(t, strings.TrimPrefix(database, f.config.Name+"_"))) {
			search("a row of "+database, row)
		}
	}
	require.NoError(t, f.inRedis(t.Context(), func(ctx context.Context, client *redis.Client) error {
		values, err := dumpRedis(ctx, client)
		for key, value := range values {
			search("Redis", key+value)
		}
		return err
	}))
	f.passed(leak, f.began, time.Now())
}

// dumpRedis returns the value of each key in Redis's file format. A key may expire in between.
func dumpRedis(ctx context.Context, client *redis.Client) (values map[string]string, err error) {
	// Compressed values cannot be searched.
	if err := client.ConfigSet(ctx, "rdbcompression", "no").Err(); err != nil {
		return nil, err
	}
	keys, err := client.Keys(ctx, "*").Result()
	if err != nil {
		return nil, err
	}
	values = map[string]string{}
	for _, key := range keys {
		if values[key], err = client.Dump(ctx, key).Result(); err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
	}
	return values, nil
}

func eachFile(t *testing.T, dir string, look func(name, text string)) {
	t.Helper()
	files := os.DirFS(dir)
	require.NoError(t, fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !entry.Type().IsRegular() {
			return nil // A server has deleted it, or it is a folder.
		}
		if err != nil {
			return err
		}
		raw, err := fs.ReadFile(files, path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		look(filepath.Join(dir, path), string(raw))
		return err
	}))
}
