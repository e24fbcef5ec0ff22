//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/identity"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const writers, approvingWriters = 32, 8

// fixture is a deployment with all its users.
type fixture struct {
	*deployment
	*results
	history   *history
	random    *mathrand.Rand
	client    *client
	campaign  string
	writers   []*writer
	followers []*follower
	endpoints []*endpoint
	// dead are the keys whose receivers never answer.
	dead []reader
	// receivers is the address of all endpoints.
	receivers string
	refuseIn  int
	brands    map[string][]string
	began     time.Time
	// gate is held by a writer during a step, and by who lets all of them wait.
	gate sync.RWMutex
	// redriven is when the changes were made that were read again from the outboxes.
	redriven period
}

func newFixture(t *testing.T, d *deployment, seeded int64, refuseIn int) *fixture {
	t.Helper()
	f := &fixture{
		deployment: d, results: newResults(), history: newHistory(), random: mathrand.New(mathrand.NewPCG(uint64(seeded), 0)),
		refuseIn: refuseIn, campaign: uuid.NewString(), brands: map[string][]string{},
	}
	f.client = d.newClient(t, f.results)
	f.brands[seed.Direct], f.brands[seed.Approving] = f.brandsOf(t, d.env["GIFTING_KEY"]), f.brandsOf(t, d.env["GIFTING_KEY_APPROVAL"])
	f.putCampaign(t, f.campaign, units)
	f.listen(t)
	for i := range writers {
		f.addWriter(t, i)
	}
	orders, links := commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS
	for _, r := range []reader{
		f.newReader(t, allOf+seed.Direct, seed.Direct, "", allScopes...),
		f.newReader(t, allOf+seed.Approving, seed.Approving, "", allScopes...),
		f.newReader(t, "orders", seed.Direct, "", orders),
		f.newReader(t, "links", seed.Direct, "", links),
		f.newReader(t, "one brand", seed.Direct, f.brands[seed.Direct][1], orders, links),
		f.newReader(t, "catalog", seed.Direct, "", commonv1.Scope_SCOPE_CATALOG),
	} {
		f.addReader(t, r)
	}
	return f
}

// allOf begins the name of the reader that sees every event of a tenant.
const allOf = "all of "

// newRandom returns a random source for one goroutine. Its choices depend only on the seed.
func (f *fixture) newRandom() *mathrand.Rand {
	return mathrand.New(mathrand.NewPCG(f.random.Uint64(), 0))
}

// brandsOf returns the tenant's brands. The brand of the demo, if it is among them, is the first.
func (f *fixture) brandsOf(t *testing.T, key string) (ids []string) {
	t.Helper()
	a, ok := f.client.with(key).send(t.Context(), call{method: http.MethodGet, path: "/brands"})
	require.True(t, ok, a.body)
	var brands []struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &brands))
	for _, b := range brands {
		ids = append(ids, b.ID)
		if b.ID == f.env["GIFTING_BRAND_ID"] {
			ids[0], ids[len(ids)-1] = ids[len(ids)-1], ids[0]
		}
	}
	return ids
}

func (f *fixture) putCampaign(t *testing.T, id string, stock int32) {
	t.Helper()
	catalog := catalogv1.NewCatalogOperationsServiceClient(f.dial(t, identity.Catalog, 0))
	_, err := catalog.PutCampaign(t.Context(), &catalogv1.PutCampaignRequest{
		Id: id, TenantId: seed.Direct, BrandId: f.env["GIFTING_BRAND_ID"], Name: "Too few",
		Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
		Offerings: []*catalogv1.OfferingInput{{
			ProductId: f.env["GIFTING_PRODUCT_ID"], SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_STOCKED,
			Skus: []*catalogv1.SkuInput{{InitialStock: proto.Int32(stock)}},
		}},
	})
	require.NoError(t, err)
}

func (f *fixture) addWriter(t *testing.T, i int) {
	t.Helper()
	tenant, other, limited := seed.Direct, seed.Approving, ""
	if i < approvingWriters {
		tenant, other = other, tenant
	}
	brands := f.brands[tenant]
	if i%4 == 3 {
		limited = brands[i%len(brands)]
	}
	r := f.newReader(t, fmt.Sprintf("writer %d", i), tenant, limited, allScopes...)
	links := f.dialTenant(t, tenant, identity.PersonalLinks, i)
	w := &writer{
		gate: &f.gate, meanPause: meanPause, client: f.client.with(r.key), history: f.history, random: f.newRandom(),
		orderOperations: ordersv1.NewOrderOperationsServiceClient(f.dialTenant(t, tenant, identity.Orders, i)),
		linkOperations:  linksv1.NewPersonalLinkOperationsServiceClient(links),
		giftSite:        linksv1.NewGiftSiteServiceClient(links),
		tenant:          tenant, other: other, limited: limited != "", keyID: r.keyID,
		brand: brands[i%len(brands)], brands: brands, product: f.env["GIFTING_PRODUCT_ID"],
	}
	if w.brand == f.env["GIFTING_BRAND_ID"] {
		w.campaign = f.campaign
	}
	f.writers = append(f.writers, w)
	// Some writers are readers too: one of each tenant, and one with a key of one brand.
	if i == 0 || i == approvingWriters || i == approvingWriters+3 {
		f.addReader(t, r)
	}
}

// calm makes the writers slower.
func (f *fixture) calm() {
	for _, w := range f.writers {
		w.meanPause = calmPause
	}
}

// listen starts the server of all endpoints. Each has its own path.
func (f *fixture) listen(t *testing.T) {
	t.Helper()
	dead := neverAnswer(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == deadPath {
			dead(w, r)
			return
		}
		n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil || n >= len(f.endpoints) {
			http.NotFound(w, r)
			return
		}
		f.endpoints[n].ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	f.receivers = "http://" + f.network.to(t, toReceivers, "to the receivers", server.Listener.Addr().String())
}

// addReader makes the key follow the feed and receive webhooks.
func (f *fixture) addReader(t *testing.T, r reader) {
	t.Helper()
	follows := newFollower(r, f.client, f.newRandom())
	follows.waits = len(f.followers)%2 == 1
	f.followers = append(f.followers, follows)
	f.endpoints = append(f.endpoints, newEndpoint(r, f.results, f.newRandom(), f.refuseIn))
	f.setWebhook(t, r, fmt.Sprintf("%s/%d", f.receivers, len(f.endpoints)-1))
}

// use runs all users for a time, while faults are injected.
func (f *fixture) use(t *testing.T, d time.Duration, injectFaults func(ctx context.Context)) {
	t.Helper()
	f.useDuring(t, func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		injectFaults(ctx)
		<-ctx.Done()
	})
}

// useDuring runs all users until do returns.
func (f *fixture) useDuring(t *testing.T, do func(ctx context.Context)) {
	t.Helper()
	f.began = time.Now()
	following, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	for _, reader := range f.followers {
		go reader.run(following)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	for _, w := range f.writers {
		group.Go(func() { w.run(ctx) })
	}
	bursts := *f.writers[approvingWriters]
	bursts.random = f.newRandom()
	group.Go(func() { bursts.sendBursts(ctx, f.deployment) })
	watcher := f.client.with(f.newReader(t, "stock", seed.Direct, "", allScopes...).key)
	group.Go(func() { watchStock(ctx, watcher, f.campaign) })
	group.Go(func() { f.revokeKeys(ctx) })
	do(ctx)
	cancel()
	group.Wait()
}
