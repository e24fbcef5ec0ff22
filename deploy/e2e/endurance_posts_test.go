//go:build faults

package e2e_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/conformance/harness"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/pkg/identity"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	// batchesVariable sets the number of batches, seedVariable repeats the choices of a run.
	batchesVariable = "GIFTING_TEST_BATCHES"
	seedVariable    = "GIFTING_TEST_SEED"
	defaultBatches  = 1000

	identical = 200
	// One batch in this many has a kill of orders, a kill of the gateway, or an order from a campaign's stock.
	ordersKilledIn, gatewayKilledIn, stockedIn = 5, 50, 4

	retryEvery  = 300 * time.Millisecond
	batchWithin = 2 * time.Minute
)

// posts sends identical POSTs through a gateway to an orders service, both of which it kills.
type posts struct {
	stack
	random          *mathrand.Rand
	client          *http.Client
	orders, gateway *program
	campaign        string
	stock           int
	// firstAnswer is how long the first response took in a batch without a kill. Kills happen around this time.
	firstAnswer time.Duration
	// placed has the ids of the orders.
	placed   []string
	outcomes map[string]int
	// lost counts the orders whose first response was lost.
	lost int
}

// outcome is the result of one POST: a response, or an error of the connection.
type outcome struct {
	harness.Answer
	err  error
	took time.Duration
}

// TestFaultManyIdenticalPosts sends batches of 200 concurrent identical POSTs, while orders and the gateway are killed at
// random. Each batch must have one effect, and the same response for all that succeed.
func TestFaultManyIdenticalPosts(t *testing.T) {
	batches, seeded := setting(t, batchesVariable, defaultBatches), setting(t, seedVariable, time.Now().UnixNano())
	t.Logf("%d batches; repeat the choices with %s=%d", batches, seedVariable, seeded)
	p := newPosts(t, seeded, batches)
	began := time.Now()
	for n := range int(batches) {
		p.batch(t, n)
	}
	t.Logf("%d batches of %d POSTs in %s: orders killed %d times, the gateway %d times; the first answer was lost in %d batches; outcomes: %v",
		batches, identical, time.Since(began).Round(time.Second), p.orders.kills, p.gateway.kills, p.lost, p.outcomes)
	t.Run("each order has one order.created", p.requireOneEventEach)
	t.Run("the stock is exact", p.requireExactStock)
}

func setting(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseInt(text, 10, 64)
	require.NoError(t, err, variable)
	return value
}

func newPosts(t *testing.T, seeded, batches int64) *posts {
	t.Helper()
	p := &posts{
		stack: stack{harness.Start(t)}, outcomes: map[string]int{}, firstAnswer: 20 * time.Millisecond, stock: int(batches),
		random: mathrand.New(mathrand.NewPCG(uint64(seeded), 0)),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: identical}, Timeout: batchWithin},
	}
	p.orders = p.newProgram(t, identity.Orders, ordersPort, map[string]string{"GIFTING_GRPC_ADDR": p.addr(ordersPort)})
	p.gateway = p.newProgram(t, identity.Gateway, gatewayPort, map[string]string{
		"GIFTING_HTTP_ADDR": p.addr(gatewayPort), "GIFTING_ORDERS_ADDR": p.orders.addr,
	})
	p.campaign = uuid.NewString()
	_, err := p.Catalog(t).PutCampaign(t.Context(), &catalogv1.PutCampaignRequest{
		Id: p.campaign, TenantId: seed.Direct, BrandId: p.Env["GIFTING_BRAND_ID"], Name: "Identical POSTs",
		Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
		Offerings: []*catalogv1.OfferingInput{{
			ProductId: p.Env["GIFTING_PRODUCT_ID"], SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_STOCKED,
			Skus: []*catalogv1.SkuInput{{InitialStock: proto.Int32(int32(batches))}},
		}},
	})
	require.NoError(t, err)
	return p
}

// batch sends one request many times concurrently, then again until it succeeds.
func (p *posts) batch(t *testing.T, n int) {
	t.Helper()
	order := p.Order(t, func(order map[string]any) {
		if n%stockedIn == 0 {
			order["campaignId"] = p.campaign
			p.stock--
		}
	})
	request := harness.Call{Method: http.MethodPost, Path: "/orders", Key: p.DemoKey(t), IdempotencyKey: rand.Text(), Body: order}
	victim := p.victim()
	answered := make(chan []outcome, 1)
	post := p.Request(t, request)
	post.URL.Host = p.gateway.addr
	go func() { answered <- p.atOnce(post) }()
	if victim != nil {
		<-time.After(p.moment())
		victim.kill(t)
	}
	outcomes := <-answered
	if victim == nil {
		p.firstAnswer = (9*p.firstAnswer + fastest(outcomes)) / 10
	}
	outcomes = append(outcomes, p.untilAnswered(t, post)...)
	p.requireOutcomes(t, fmt.Sprintf("batch %d, killed: %v", n, victim != nil), outcomes, victim != nil)
	p.requireOneOrder(t, request, outcomes[len(outcomes)-1])
}

// victim is the program that the batch kills, if it kills one.
func (p *posts) victim() *program {
	switch {
	case p.random.IntN(ordersKilledIn) == 0:
		return p.orders
	case p.random.IntN(gatewayKilledIn) == 0:
		return p.gateway
	default:
		return nil
	}
}

// moment is the time of the kill: mostly while the request with the effect runs, otherwise while the others get their
// responses.
func (p *posts) moment() time.Duration {
	within := 2 * p.firstAnswer
	if p.random.IntN(3) == 0 {
		within *= 5
	}
	return time.Duration(p.random.Int64N(int64(within)))
}

func fastest(outcomes []outcome) time.Duration {
	shortest := batchWithin
	for _, o := range outcomes {
		if o.Status == http.StatusCreated {
			shortest = min(shortest, o.took)
		}
	}
	return shortest
}

func (p *posts) atOnce(post *http.Request) []outcome {
	outcomes := make([]outcome, identical)
	var group sync.WaitGroup
	for i := range outcomes {
		group.Go(func() { outcomes[i] = p.try(post) })
	}
	group.Wait()
	return outcomes
}

// untilAnswered repeats the request until it succeeds.
func (p *posts) untilAnswered(t *testing.T, post *http.Request) []outcome {
	t.Helper()
	var outcomes []outcome
	deadline := time.Now().Add(batchWithin)
	for {
		o := p.try(post)
		outcomes = append(outcomes, o)
		if o.Status == http.StatusCreated {
			return outcomes
		}
		require.True(t, time.Now().Before(deadline), "it is not answered: %d %s %v", o.Status, o.Body, o.err)
		<-time.After(retryEvery)
	}
}

func (p *posts) try(post *http.Request) outcome {
	began := time.Now()
	req := post.Clone(post.Context())
	var err error
	if req.Body, err = post.GetBody(); err != nil {
		return outcome{err: err}
	}
	res, err := p.client.Do(req)
	if err != nil {
		return outcome{err: err}
	}
	defer func() { _ = res.Body.Close() }()
	content, err := io.ReadAll(res.Body)
	if err != nil {
		return outcome{err: err}
	}
	return outcome{Answer: harness.Answer{Status: res.StatusCode, Header: res.Header, Body: string(content)}, took: time.Since(began)}
}

// requireOutcomes checks that all successes have the same response, byte for byte. The others may have failed only because of
// the request in flight or the killed program.
func (p *posts) requireOutcomes(t *testing.T, batch string, outcomes []outcome, killed bool) {
	t.Helper()
	first, body := 0, ""
	for _, o := range outcomes {
		kind := o.kind()
		p.outcomes[kind]++
		switch {
		case o.Status == http.StatusCreated:
			if body == "" {
				body = o.Body
			}
			require.Equal(t, body, o.Body, batch)
			if o.Header.Get("Idempotent-Replayed") == "" {
				first++
			}
		case kind == "409 idempotency_request_in_progress":
			require.Equal(t, "2", o.Header.Get("Retry-After"), batch)
		default:
			require.True(t, killed && (o.err != nil || o.Status >= http.StatusInternalServerError || o.Status == http.StatusTooManyRequests),
				"%s: %s %s %v", batch, kind, o.Body, o.err)
		}
	}
	require.LessOrEqual(t, first, 1, "%s: answered more than once as the first", batch)
	if first == 0 {
		require.True(t, killed, "%s: the first answer is lost", batch)
		p.lost++
	}
}

// kind names an outcome in the counts.
func (o outcome) kind() string {
	if o.err != nil {
		return "no answer"
	}
	var problem struct {
		Code string `json:"code"`
	}
	if o.Status == http.StatusCreated || json.Unmarshal([]byte(o.Body), &problem) != nil {
		return strconv.Itoa(o.Status)
	}
	return strconv.Itoa(o.Status) + " " + problem.Code
}

// requireOneOrder checks that the tenant has one order of the request, the one in the response.
func (p *posts) requireOneOrder(t *testing.T, request harness.Call, answered outcome) {
	t.Helper()
	order := answered.Object(t)
	list := p.Get(t, request.Key, "/orders?externalOrderId="+order["externalOrderId"].(string))
	items, _ := list.OK(t)["items"].([]any)
	require.Len(t, items, 1)
	require.Equal(t, order, items[0])
	require.Contains(t, request.Body, order["externalOrderId"])
	p.placed = append(p.placed, order["id"].(string))
}

// requireOneEventEach reads the feed until it shows the last order, and then everything that follows.
func (p *posts) requireOneEventEach(t *testing.T) {
	last := p.placed[len(p.placed)-1]
	p.Await(t, p.DemoKey(t), recoverWithin, last)
	created := map[string]int{}
	for _, e := range p.Feed(t, p.DemoKey(t)) {
		if e.Type == "order.created" {
			created[e.Record(t)["id"].(string)]++
		}
	}
	for _, id := range p.placed {
		require.Equal(t, 1, created[id], id)
	}
	require.Len(t, created, len(p.placed), "no order but those that were answered")
}

// requireExactStock waits, because units that a killed service reserved and did not use are returned later.
func (p *posts) requireExactStock(t *testing.T) {
	key := p.DemoKey(t)
	want := fmt.Sprintf(`"stockRemaining":%d`, p.stock)
	var campaign harness.Answer
	require.Eventually(t, func() bool {
		campaign = p.Get(t, key, "/campaigns/"+p.campaign)
		return strings.Contains(campaign.Body, want)
	}, recoverWithin, time.Second, "%s is wanted", want)
	t.Logf("of the campaign's stock %d units are left, as it should be", p.stock)
}
