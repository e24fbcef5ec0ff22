//go:build faults

package e2e_test

import (
	"context"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// secondsVariable is how long the writers write.
	secondsVariable = "GIFTING_TEST_SECONDS"
	defaultSeconds  = 180
	// brokenSeconds is enough to notice that a relay is broken.
	brokenSeconds = 25

	writers, approvingWriters = 32, 8

	// settleWithin bounds the way of the last events into the feed; arriveWithin also covers two retries of a webhook.
	settleWithin = 3 * time.Minute
	arriveWithin = 9 * time.Minute
	brokenSettle = 15 * time.Second
)

// scene is a site with all who use it.
type scene struct {
	*site
	ledger    *ledger
	random    *mathrand.Rand
	client    *http.Client
	writers   []*writer
	followers []*follower
	endpoints []*endpoint
	brand     map[string][]string
}

// TestFaultEveryEventOnceAndInOrder writes for minutes while every process is killed and paused, and Kafka, PostgreSQL
// and Redis are restarted. Then each committed change is in the feed once and in causal order, and has reached all who
// may see it and nobody else.
func TestFaultEveryEventOnceAndInOrder(t *testing.T) {
	seconds, seeded := setting(t, secondsVariable, defaultSeconds), setting(t, seedVariable, time.Now().UnixNano())
	t.Logf("%d seconds; repeat the choices with %s=%d", seconds, seedVariable, seeded)
	s := newScene(t, seeded, buildServices(t), "")
	c := &chaos{site: s.site, random: s.source(), counts: map[string]int{}}
	s.write(t, time.Duration(seconds)*time.Second, func(ctx context.Context) {
		c.run(ctx, t.Logf)
		require.NoError(t, c.failed)
		require.NoError(t, c.revive(context.WithoutCancel(ctx)))
	})
	t.Logf("done to it: %v", c.counts)
	require.NotEmpty(t, c.counts)
	require.Empty(t, s.judge(t, settleWithin, arriveWithin))
}

// TestFaultABrokenRelayIsNoticed proves the check above: it finds nothing wrong with a relay that reads slowly, and
// finds out one that leaves out the rule that keeps the causal order, and one that loses rows.
func TestFaultABrokenRelayIsNoticed(t *testing.T) {
	binaries := buildServices(t)
	for _, row := range []struct{ fault, found string }{
		{"slow", ""}, {"uncut", "causal order: "}, {"lose", "missing: "},
	} {
		t.Run(row.fault, func(t *testing.T) {
			s := newScene(t, setting(t, seedVariable, time.Now().UnixNano()), binaries, row.fault)
			s.write(t, brokenSeconds*time.Second, func(ctx context.Context) { <-ctx.Done() })
			wrong := s.judge(t, brokenSettle, arriveWithin)
			if row.found == "" {
				require.Empty(t, wrong)
				return
			}
			i := slices.IndexFunc(wrong, func(w string) bool { return strings.HasPrefix(w, row.found) })
			require.GreaterOrEqual(t, i, 0, "%v", wrong)
			t.Logf("noticed, with %d more: %s", len(wrong)-1, wrong[i])
		})
	}
}

func newScene(t *testing.T, seeded int64, binaries, relayFault string) *scene {
	t.Helper()
	s := &scene{
		site: newSite(t, binaries, relayFault), ledger: &ledger{outcomes: map[string]int{}}, brand: map[string][]string{},
		random: mathrand.New(mathrand.NewPCG(uint64(seeded), 0)),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 2 * writers}},
	}
	s.brand[seed.Direct] = []string{s.env["GIFTING_BRAND_ID"], s.brandOf(t, s.env["GIFTING_KEY"])}
	s.brand[seed.Approving] = []string{s.brandOf(t, s.env["GIFTING_KEY_APPROVAL"])}
	for i := range writers {
		s.addWriter(t, i)
	}
	s.addReaders(t)
	return s
}

// source makes random choices that depend on the seed alone, for one goroutine.
func (s *scene) source() *mathrand.Rand { return mathrand.New(mathrand.NewPCG(s.random.Uint64(), 0)) }

func (s *scene) addWriter(t *testing.T, i int) {
	t.Helper()
	tenant, limited := seed.Direct, ""
	if i < approvingWriters {
		tenant = seed.Approving
	}
	brands := s.brand[tenant]
	if i%4 == 3 {
		limited = brands[i%len(brands)]
	}
	r := s.newReader(t, fmt.Sprintf("writer %d", i), tenant, limited, allScopes...)
	s.writers = append(s.writers, &writer{
		T: t, site: s.site, ledger: s.ledger, random: s.source(), client: s.client,
		desk:   ordersv1.NewOrderOperationsServiceClient(s.dial(t, "GIFTING_GRPC_ORDERS")),
		team:   linksv1.NewPersonalLinkOperationsServiceClient(s.dial(t, "GIFTING_GRPC_LINKS")),
		gifts:  linksv1.NewGiftSiteServiceClient(s.dial(t, "GIFTING_GRPC_LINKS")),
		tenant: tenant, key: r.key, keyID: r.keyID, brand: brands[i%len(brands)],
	})
	// Some writers read too: one of each tenant, and one whose key is limited to a brand.
	if i == 0 || i == approvingWriters || i == approvingWriters+3 {
		s.follow(r)
		s.receive(t, r)
	}
}

func (s *scene) addReaders(t *testing.T) {
	t.Helper()
	orders, links := commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS
	for _, r := range []reader{
		s.newReader(t, "all of the direct tenant", seed.Direct, "", allScopes...),
		s.newReader(t, "all of the approving tenant", seed.Approving, "", allScopes...),
		s.newReader(t, "orders", seed.Direct, "", orders),
		s.newReader(t, "links", seed.Direct, "", links),
		s.newReader(t, "one brand", seed.Direct, s.brand[seed.Direct][1], orders, links),
		s.newReader(t, "catalog", seed.Direct, "", commonv1.Scope_SCOPE_CATALOG),
	} {
		s.follow(r)
		s.receive(t, r)
	}
}

func (s *scene) newReader(t *testing.T, name, tenant, brand string, scopes ...commonv1.Scope) reader {
	t.Helper()
	req := &tenantsv1.CreateKeyRequest{TenantId: tenant, Name: name, Scopes: scopes, AllBrands: brand == ""}
	if brand != "" {
		req.BrandIds = []string{brand}
	}
	made, err := s.operations(t).CreateKey(t.Context(), req)
	require.NoError(t, err)
	return reader{
		name: name, tenant: tenant, key: made.GetApiKey(), keyID: made.GetKey().GetId(), secret: made.GetWebhookSecret(),
		scopes: scopes, brand: brand,
	}
}

func (s *scene) follow(r reader) {
	asking := &writer{site: s.site, ledger: s.ledger, client: s.client, key: r.key}
	s.followers = append(s.followers, &follower{reader: r, writer: asking, random: s.source()})
}

func (s *scene) receive(t *testing.T, r reader) {
	t.Helper()
	e := &endpoint{reader: r, ledger: s.ledger, random: s.source(), bodies: map[string]string{}, arrivals: map[string]int{}}
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	_, err := s.operations(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: r.keyID, Url: proto.String(server.URL)})
	require.NoError(t, err)
	s.endpoints = append(s.endpoints, e)
}

// write runs the writers for the time, and what is done to the site meanwhile.
func (s *scene) write(t *testing.T, d time.Duration, meanwhile func(ctx context.Context)) {
	t.Helper()
	following, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	for _, f := range s.followers {
		go f.run(following)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var group sync.WaitGroup
	for _, w := range s.writers {
		group.Go(func() { w.run(ctx) })
	}
	meanwhile(ctx)
	group.Wait()
	t.Logf("%d answered changes; outcomes: %v", len(s.ledger.deeds), s.ledger.outcomes)
}

// judge waits until all is quiet and gives what is wrong.
func (s *scene) judge(t *testing.T, settle, arrive time.Duration) []string {
	t.Helper()
	var wrong []string
	for _, tenant := range []string{seed.Direct, seed.Approving} {
		j := s.settled(t, tenant, settle)
		wrong = append(wrong, few(j.all())...)
		s.waitFor(arriveOrBroken(arrive, wrong), func() bool { return s.quiet(j) })
		for _, f := range s.followers {
			if f.tenant == tenant {
				wrong = append(wrong, j.followed(f)...)
			}
		}
		deliveries, again := 0, 0
		for _, e := range s.endpoints {
			if e.tenant == tenant {
				wrong = append(wrong, few(j.delivered(e))...)
				deliveries, again = deliveries+e.total, again+e.total-e.refused-len(e.bodies)
			}
		}
		t.Logf("%s: %d orders, %d links, %d events in the feed, %d webhooks arrived, %d of them again", tenant, len(j.orders), len(j.links),
			len(j.feed), deliveries, again)
	}
	s.ledger.lock.Lock()
	defer s.ledger.lock.Unlock()
	return append(wrong, few(s.ledger.wrong)...)
}

// arriveOrBroken does not wait for webhooks of events that are missing already.
func arriveOrBroken(arrive time.Duration, wrong []string) time.Duration {
	if len(wrong) > 0 {
		return min(arrive, brokenSettle)
	}
	return arrive
}

func few(wrong []string) []string {
	if len(wrong) > manyOf {
		return append(wrong[:manyOf:manyOf], fmt.Sprintf("and %d more", len(wrong)-manyOf))
	}
	return wrong
}

// settled reads what the services hold, waits for it in the feed, and reads the feed anew from its start.
func (s *scene) settled(t *testing.T, tenant string, within time.Duration) *judge {
	t.Helper()
	r := s.newReader(t, "judge", tenant, "", allScopes...)
	asking := &writer{site: s.site, ledger: s.ledger, client: s.client, key: r.key}
	j := &judge{tenant: tenant, orders: s.list(t, asking, "/orders"), links: s.list(t, asking, "/personal-links")}
	for _, d := range s.ledger.deeds {
		if d.tenant == tenant {
			j.deeds = append(j.deeds, d)
		}
	}
	full := s.followers[slices.IndexFunc(s.followers, func(f *follower) bool { return f.tenant == tenant && strings.HasPrefix(f.name, "all") })]
	expected := len(j.expected())
	s.waitFor(within, func() bool { return full.length() >= expected })
	// What is in the feed too often may come behind the last that was waited for.
	pauseFor(t.Context(), 3*time.Second)
	anew := &follower{reader: r, writer: asking, random: s.source()}
	for before := -1; before < anew.length(); {
		before = anew.length()
		for _, err := anew.page(t.Context()); err != nil; _, err = anew.page(t.Context()) {
			pauseFor(t.Context(), time.Second) // The rate limit.
			require.NoError(t, t.Context().Err())
		}
	}
	j.feed = anew.events
	return j
}

func (s *scene) list(t *testing.T, asking *writer, path string) map[string]snapshot {
	t.Helper()
	records := map[string]snapshot{}
	for target := path + "?limit=100"; target != ""; {
		a, ok := asking.exchange(t.Context(), call{method: http.MethodGet, path: target})
		require.True(t, ok, a.body)
		next := readList(t, a.body, records)
		target = ""
		if next != "" {
			target = path + "?limit=100&after=" + next
		}
	}
	return records
}

// quiet says whether the followers and receivers of the judge's tenant have all that is for them.
func (s *scene) quiet(j *judge) bool {
	for _, f := range s.followers {
		if f.tenant == j.tenant && f.length() < len(j.inFeedOf(f.reader)) {
			return false
		}
	}
	for _, e := range s.endpoints {
		if e.tenant == j.tenant && e.missing(j.sentTo(e.reader)) > 0 {
			return false
		}
	}
	return true
}

func (s *scene) waitFor(within time.Duration, ready func() bool) {
	ticker := time.NewTicker(500 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(within); time.Now().Before(deadline) && !ready(); {
		<-ticker.C
	}
}
