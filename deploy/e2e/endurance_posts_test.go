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

	"github.com/partnergifting/platform/deploy/local/seed"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

const (
	// roundsVariable is how many rounds are run, seedVariable repeats the choices of a run.
	roundsVariable = "GIFTING_TEST_ROUNDS"
	seedVariable   = "GIFTING_TEST_SEED"
	defaultRounds  = 1000

	identical = 200
	// One round in so many meets a kill of orders, a kill of the gateway, and an order from a campaign's stock.
	ordersKilledIn, gatewayKilledIn, stockedIn = 5, 50, 4

	retryEvery  = 300 * time.Millisecond
	roundWithin = 2 * time.Minute
)

// posts sends identical POSTs through a gateway to an orders service, both of which it kills.
type posts struct {
	*platform
	random          *mathrand.Rand
	client          *http.Client
	orders, gateway *program
	campaign        string
	stock           int
	// firstAnswer is how long the first answer of a quiet round took: kills come around it.
	firstAnswer time.Duration
	// placed has the ids of the orders.
	placed   []string
	outcomes map[string]int
	// lost counts the orders whose first answer reached nobody.
	lost int
}

// outcome is what one POST got: an answer, or an error of the connection.
type outcome struct {
	answer
	err  error
	took time.Duration
}

// TestFaultManyIdenticalPosts sends 200 identical POSTs at once, round after round, while orders and the gateway are
// killed at random. Each round has one effect, and one answer to all that succeed.
func TestFaultManyIdenticalPosts(t *testing.T) {
	rounds, seeded := setting(t, roundsVariable, defaultRounds), setting(t, seedVariable, time.Now().UnixNano())
	t.Logf("%d rounds; repeat the choices with %s=%d", rounds, seedVariable, seeded)
	p := newPosts(t, seeded, rounds)
	began := time.Now()
	for n := range int(rounds) {
		p.round(t, n)
	}
	t.Logf("%d rounds of %d POSTs in %s: orders killed %d times, the gateway %d times; the first answer was lost in %d rounds; outcomes: %v",
		rounds, identical, time.Since(began).Round(time.Second), p.orders.kills, p.gateway.kills, p.lost, p.outcomes)
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

func newPosts(t *testing.T, seeded, rounds int64) *posts {
	t.Helper()
	p := &posts{
		platform: start(t), outcomes: map[string]int{}, firstAnswer: 20 * time.Millisecond, stock: int(rounds),
		random: mathrand.New(mathrand.NewPCG(uint64(seeded), 0)),
		client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: identical}, Timeout: roundWithin},
	}
	p.orders = p.newOrders(t)
	p.gateway = p.newGateway(t, p.orders)
	p.campaign = uuid.NewString()
	_, err := catalogv1.NewCatalogOperationsServiceClient(p.dial(t, "GIFTING_GRPC_CATALOG")).PutCampaign(t.Context(), &catalogv1.PutCampaignRequest{
		Id: p.campaign, TenantId: seed.Direct, BrandId: p.env["GIFTING_BRAND_ID"], Name: "Identical POSTs",
		Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
		Offerings: []*catalogv1.OfferingInput{{
			ProductId: p.env["GIFTING_PRODUCT_ID"], SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_STOCKED,
			Skus: []*catalogv1.SkuInput{{InitialStock: proto.Int32(int32(rounds))}},
		}},
	})
	require.NoError(t, err)
	return p
}

// round sends one request many times at once, then again until it is answered.
func (p *posts) round(t *testing.T, n int) {
	t.Helper()
	order := p.order(t, func(order map[string]any) {
		if n%stockedIn == 0 {
			order["campaignId"] = p.campaign
			p.stock--
		}
	})
	request := call{method: http.MethodPost, path: "/orders", key: p.newKey(t, "").GetApiKey(), idempotencyKey: rand.Text(), body: order}
	victim := p.victim()
	answered := make(chan []outcome, 1)
	post := p.request(t, request)
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
	p.judgeRound(t, fmt.Sprintf("round %d, killed: %v", n, victim != nil), outcomes, victim != nil)
	p.requireOneOrder(t, request, outcomes[len(outcomes)-1])
}

// victim is the program that the round kills, if it kills one.
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

// moment is when the kill comes: mostly while the one request runs that has the effect, else while the others are
// answered.
func (p *posts) moment() time.Duration {
	within := 2 * p.firstAnswer
	if p.random.IntN(3) == 0 {
		within *= 5
	}
	return time.Duration(p.random.Int64N(int64(within)))
}

func fastest(outcomes []outcome) time.Duration {
	shortest := roundWithin
	for _, o := range outcomes {
		if o.status == http.StatusCreated {
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
	deadline := time.Now().Add(roundWithin)
	for {
		o := p.try(post)
		outcomes = append(outcomes, o)
		if o.status == http.StatusCreated {
			return outcomes
		}
		require.True(t, time.Now().Before(deadline), "it is not answered: %d %s %v", o.status, o.body, o.err)
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
	return outcome{answer: answer{status: res.StatusCode, header: res.Header, body: string(content)}, took: time.Since(began)}
}

// judgeRound demands one answer, byte for byte, of all that succeeded, and that the others were refused for a reason
// that the round gave them.
func (p *posts) judgeRound(t *testing.T, round string, outcomes []outcome, killed bool) {
	t.Helper()
	first, body := 0, ""
	for _, o := range outcomes {
		kind := o.kind()
		p.outcomes[kind]++
		switch {
		case o.status == http.StatusCreated:
			if body == "" {
				body = o.body
			}
			require.Equal(t, body, o.body, round)
			if o.header.Get("Idempotent-Replayed") == "" {
				first++
			}
		case kind == "409 idempotency_request_in_progress":
			require.Equal(t, "2", o.header.Get("Retry-After"), round)
		default:
			require.True(t, killed && (o.err != nil || o.status >= http.StatusInternalServerError || o.status == http.StatusTooManyRequests),
				"%s: %s %s %v", round, kind, o.body, o.err)
		}
	}
	require.LessOrEqual(t, first, 1, "%s: answered anew more than once", round)
	if first == 0 {
		require.True(t, killed, "%s: the first answer is lost", round)
		p.lost++
	}
}

// kind names an outcome for the count.
func (o outcome) kind() string {
	if o.err != nil {
		return "no answer"
	}
	var problem struct {
		Code string `json:"code"`
	}
	if o.status == http.StatusCreated || json.Unmarshal([]byte(o.body), &problem) != nil {
		return strconv.Itoa(o.status)
	}
	return strconv.Itoa(o.status) + " " + problem.Code
}

// requireOneOrder demands that the tenant has one order of the request, the one that was answered.
func (p *posts) requireOneOrder(t *testing.T, request call, answered outcome) {
	t.Helper()
	order := answered.object(t)
	list := p.get(t, request.key, "/orders?externalOrderId="+order["externalOrderId"].(string))
	require.Equal(t, http.StatusOK, list.status, list.body)
	items, _ := list.object(t)["items"].([]any)
	require.Len(t, items, 1)
	require.Equal(t, order, items[0])
	require.Contains(t, request.body, order["externalOrderId"])
	p.placed = append(p.placed, order["id"].(string))
}

// requireOneEventEach reads the feed until it shows the last order, and then everything that follows.
func (p *posts) requireOneEventEach(t *testing.T) {
	last := p.placed[len(p.placed)-1]
	p.eventually(t, p.newKey(t, "").GetApiKey(), last, recoverWithin)
	created := map[string]int{}
	for _, e := range p.feed(t, p.newKey(t, "").GetApiKey()) {
		if e.Type == "order.created" {
			created[answer{body: string(e.Data)}.object(t)["id"].(string)]++
		}
	}
	for _, id := range p.placed {
		require.Equal(t, 1, created[id], id)
	}
	require.Len(t, created, len(p.placed), "no order but those that were answered")
}

// requireExactStock waits, because what a killed service reserved and did not use is given back later.
func (p *posts) requireExactStock(t *testing.T) {
	key := p.newKey(t, "").GetApiKey()
	want := fmt.Sprintf(`"stockRemaining":%d`, p.stock)
	var campaign answer
	require.Eventually(t, func() bool {
		campaign = p.get(t, key, "/campaigns/"+p.campaign)
		return strings.Contains(campaign.body, want)
	}, recoverWithin, time.Second, "%s is wanted", want)
	t.Logf("of the campaign's stock %d units are left, as it should be", p.stock)
}
