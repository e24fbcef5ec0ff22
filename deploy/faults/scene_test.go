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
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const writers, approvingWriters = 32, 8

// scene is a site with all who use it.
type scene struct {
	*site
	*verdict
	ledger    *ledger
	random    *mathrand.Rand
	client    *client
	campaign  string
	writers   []*writer
	followers []*follower
	endpoints []*endpoint
	receivers string
	// refuseIn says how many webhooks it takes until a receiver refuses one; 0: none does.
	refuseIn int
	brands   map[string][]string
	began    time.Time
}

func newScene(t *testing.T, s *site, seeded int64, refuseIn int) *scene {
	t.Helper()
	c := &scene{
		site: s, verdict: newVerdict(), ledger: newLedger(), random: mathrand.New(mathrand.NewPCG(uint64(seeded), 0)),
		refuseIn: refuseIn, campaign: uuid.NewString(), brands: map[string][]string{},
	}
	c.client = s.newClient(t, c.verdict)
	c.brands[seed.Direct], c.brands[seed.Approving] = c.brandsOf(t, s.env["GIFTING_KEY"]), c.brandsOf(t, s.env["GIFTING_KEY_APPROVAL"])
	c.putCampaign(t)
	c.listen(t)
	for i := range writers {
		c.addWriter(t, i)
	}
	c.addReaders(t)
	return c
}

// source makes random choices that depend on the seed alone, for one goroutine.
func (c *scene) source() *mathrand.Rand { return mathrand.New(mathrand.NewPCG(c.random.Uint64(), 0)) }

// brandsOf gives the tenant's brands, of which the first is the demo's, if it has that.
func (c *scene) brandsOf(t *testing.T, key string) (ids []string) {
	t.Helper()
	a, ok := c.client.with(key).exchange(t.Context(), call{method: http.MethodGet, path: "/brands"})
	require.True(t, ok, a.body)
	var brands []struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &brands))
	for _, b := range brands {
		ids = append(ids, b.ID)
		if b.ID == c.env["GIFTING_BRAND_ID"] {
			ids[0], ids[len(ids)-1] = ids[len(ids)-1], ids[0]
		}
	}
	return ids
}

func (c *scene) putCampaign(t *testing.T) {
	t.Helper()
	_, err := catalogv1.NewCatalogOperationsServiceClient(c.dial(t, "GIFTING_GRPC_CATALOG", 0)).PutCampaign(t.Context(), &catalogv1.PutCampaignRequest{
		Id: c.campaign, TenantId: seed.Direct, BrandId: c.env["GIFTING_BRAND_ID"], Name: "Too few",
		Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
		Offerings: []*catalogv1.OfferingInput{{
			ProductId: c.env["GIFTING_PRODUCT_ID"], SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_STOCKED,
			Skus: []*catalogv1.SkuInput{{InitialStock: proto.Int32(units)}},
		}},
	})
	require.NoError(t, err)
}

func (c *scene) addWriter(t *testing.T, i int) {
	t.Helper()
	tenant, other, limited := seed.Direct, seed.Approving, ""
	if i < approvingWriters {
		tenant, other = other, tenant
	}
	brands := c.brands[tenant]
	if i%4 == 3 {
		limited = brands[i%len(brands)]
	}
	r := c.newReader(t, fmt.Sprintf("writer %d", i), tenant, limited, allScopes...)
	links := c.dial(t, "GIFTING_GRPC_LINKS", i)
	w := &writer{
		client: c.client.with(r.key), ledger: c.ledger, random: c.source(),
		desk:   ordersv1.NewOrderOperationsServiceClient(c.dial(t, "GIFTING_GRPC_ORDERS", i)),
		team:   linksv1.NewPersonalLinkOperationsServiceClient(links),
		gifts:  linksv1.NewGiftSiteServiceClient(links),
		tenant: tenant, other: other, limited: limited != "", keyID: r.keyID,
		brand: brands[i%len(brands)], brands: brands, product: c.env["GIFTING_PRODUCT_ID"],
	}
	if w.brand == c.env["GIFTING_BRAND_ID"] {
		w.campaign = c.campaign
	}
	c.writers = append(c.writers, w)
	// Some writers read too: one of each tenant, and one whose key is limited to a brand.
	if i == 0 || i == approvingWriters || i == approvingWriters+3 {
		c.read(t, r)
	}
}

func (c *scene) addReaders(t *testing.T) {
	t.Helper()
	orders, links := commonv1.Scope_SCOPE_ORDERS, commonv1.Scope_SCOPE_PERSONAL_LINKS
	for _, r := range []reader{
		c.newReader(t, allOf+seed.Direct, seed.Direct, "", allScopes...),
		c.newReader(t, allOf+seed.Approving, seed.Approving, "", allScopes...),
		c.newReader(t, "orders", seed.Direct, "", orders),
		c.newReader(t, "links", seed.Direct, "", links),
		c.newReader(t, "one brand", seed.Direct, c.brands[seed.Direct][1], orders, links),
		c.newReader(t, "catalog", seed.Direct, "", commonv1.Scope_SCOPE_CATALOG),
	} {
		c.read(t, r)
	}
}

// allOf begins the name of the reader who sees everything of a tenant.
const allOf = "all of "

// listen starts the server of all receivers of webhooks, each on a path of its own.
func (c *scene) listen(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		if err != nil || n >= len(c.endpoints) {
			http.NotFound(w, r)
			return
		}
		c.endpoints[n].ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	c.receivers = "http://" + c.network.to(t, toReceivers, "to the receivers", server.Listener.Addr().String())
}

// read has the key follow the feed, and receive webhooks.
func (c *scene) read(t *testing.T, r reader) {
	t.Helper()
	c.followers = append(c.followers, newFollower(r, c.client, c.source()))
	c.endpoints = append(c.endpoints, newEndpoint(r, c.verdict, c.source(), c.refuseIn))
	url := fmt.Sprintf("%s/%d", c.receivers, len(c.endpoints)-1)
	_, err := c.keys.SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{KeyId: r.keyID, Url: proto.String(url)})
	require.NoError(t, err)
}

// use runs all who use the site for the time, and what is done to it meanwhile.
func (c *scene) use(t *testing.T, d time.Duration, meanwhile func(ctx context.Context)) {
	t.Helper()
	c.began = time.Now()
	following, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	for _, f := range c.followers {
		go f.run(following)
	}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var group sync.WaitGroup
	for _, w := range c.writers {
		group.Go(func() { w.run(ctx) })
	}
	throng := *c.writers[approvingWriters]
	throng.random = c.source()
	group.Go(func() { throng.throng(ctx, c.newKey) })
	watcher := c.client.with(c.newReader(t, "stock", seed.Direct, "", allScopes...).key)
	group.Go(func() { watchStock(ctx, watcher, c.campaign) })
	group.Go(func() { c.revoke(ctx) })
	meanwhile(ctx)
	group.Wait()
}
