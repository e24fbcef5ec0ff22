package conformance_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// The seed of the orders that the dry run and placing must agree about, and their number. The same seed makes the same orders.
const (
	dryRunSeedVariable  = "GIFTING_TEST_DRY_RUN_SEED"
	dryRuns             = 300
	dryRunsOfKey        = 100
	mostChangesOfDryRun = 4
)

// testDryRunAgrees makes dry runs of generated orders, and then places them while nothing else happens to their tenants: what was
// valid must be placed as it was said, and what was not must be refused with the first problem.
func testDryRunAgrees(t *testing.T, p *platform) {
	seed := rand.Uint64()
	if text := os.Getenv(dryRunSeedVariable); text != "" {
		var err error
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err, dryRunSeedVariable)
	}
	t.Logf("%s=%d", dryRunSeedVariable, seed)
	g := &generator{random: rand.New(rand.NewPCG(seed, 0))}
	for _, f := range []*fixture{newFixture(t, p), newFixture(t, p, approving), newFixture(t, p)} {
		g.fixtures = append(g.fixtures, newOrderFixture(t, f))
	}
	g.fixtures[2].required = g.fixtures[2].requireField(t)
	codes := map[string]int{}
	for n := range dryRuns {
		if n%dryRunsOfKey == 0 {
			for _, w := range g.fixtures {
				w.renewKeys(t)
			}
		}
		w := g.fixtures[g.random.IntN(len(g.fixtures))]
		key, body := g.order(t, w)
		said := w.validate(t, key, body)
		for _, code := range said.codes() {
			codes[code]++
		}
		w.requireAgreement(t, said, w.Send(t, call{Method: http.MethodPost, Path: "/orders", Key: key, Body: body}), body)
		if said.record["valid"] == true {
			codes["valid"]++
		}
	}
	t.Log(codes)
	require.GreaterOrEqual(t, len(codes), 10, "the orders meet too few of the problems: %v", codes)
}

// requireAgreement compares what the dry run said with what placing did.
func (f *fixture) requireAgreement(t *testing.T, said validation, placed answer, body string) {
	t.Helper()
	about := fmt.Sprintf("%s\ndry run: %v\nplacing: %s", body, said.record, placed.Body)
	did := placed.Object(t)
	if said.record["valid"] == true {
		require.Equal(t, http.StatusCreated, placed.Status, about)
		require.Equal(t, said.record["status"], did["status"], about)
		require.Equal(t, said.record["receivedOutsideActiveHours"], did["receivedOutsideActiveHours"], about)
		return
	}
	requireInOrder(t, said.codes())
	first := said.problems[0]
	require.Equal(t, first["code"], did["code"], about)
	require.Equal(t, first["detail"], did["detail"], about)
	require.Equal(t, first["orderId"], did["orderId"], about)
	sent, _ := did["errors"].([]any)
	require.ElementsMatch(t, first["errors"], sent, about)
}

// requireInOrder checks that each code comes once, and in the order of the checks: 400, 422, 409, each in the order of the table.
func requireInOrder(t *testing.T, codes []string) {
	t.Helper()
	registry := problem.Registry()
	rank := func(code string) int {
		at := slices.IndexFunc(registry, func(i problem.Info) bool { return string(i.Code) == code })
		require.GreaterOrEqual(t, at, 0, code)
		return slices.Index([]int{400, 422, 409}, registry[at].Status)*len(registry) + at
	}
	require.True(t, slices.IsSortedFunc(codes, func(a, b string) int { return rank(a) - rank(b) }), "%v", codes)
	require.Len(t, slices.Compact(slices.Clone(codes)), len(codes), "%v", codes)
}

// orderFixture is a tenant with what orders can refer to.
type orderFixture struct {
	*fixture
	sized, rich, gone, abroad *catalogv1.PutProductRequest
	// campaigns have every state and stock. They belong to both brands or to another tenant, and one does not exist.
	campaigns []string
	// keys reach all brands, one and the other.
	keys []string
	// foreign is a brand of another tenant, required an order field that must be answered, if there is one.
	foreign, required string
}

func newOrderFixture(t *testing.T, f *fixture) *orderFixture {
	t.Helper()
	w := &orderFixture{
		fixture: f, sized: f.putGift(t, "S", "M"), rich: f.richGift(t), gone: f.putGift(t, "S"), abroad: f.putGift(t, "S"),
		foreign: newFixture(t, f.platform).brand,
	}
	w.abroad.AvailableCountries = []string{"NO"}
	f.putProduct(t, w.abroad)
	past := timestamppb.New(time.Now().Add(-time.Minute).Truncate(time.Second))
	for _, units := range []int32{0, 1, 40, -1} {
		w.campaigns = append(w.campaigns, f.campaign(t, units, w.sized, w.gone, w.abroad).GetId())
	}
	for _, change := range []func(c *catalogv1.PutCampaignRequest){
		func(c *catalogv1.PutCampaignRequest) { c.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT },
		func(c *catalogv1.PutCampaignRequest) { c.Status = catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED },
		func(c *catalogv1.PutCampaignRequest) { c.ExpiresAt = past },
		func(c *catalogv1.PutCampaignRequest) { c.BrandId = f.other },
	} {
		campaign := f.campaign(t, 2, w.sized)
		campaign.Id = uuid.NewString()
		change(campaign)
		f.putCampaign(t, campaign)
		w.campaigns = append(w.campaigns, campaign.GetId())
	}
	f.putInState(t, w.gone, archived) // Its offerings need a review.
	w.campaigns = append(w.campaigns, newFixture(t, f.platform).campaign(t, -1, w.sized).GetId(), uuid.NewString())
	return w
}

// renewKeys makes new keys, which have their whole limit.
func (w *orderFixture) renewKeys(t *testing.T) {
	t.Helper()
	w.keys = []string{w.newKey(t), w.newKey(t, ofBrand(w.brand)), w.newKey(t, ofBrand(w.other))}
}

// generator makes orders, from valid ones to hopeless ones.
type generator struct {
	random   *rand.Rand
	fixtures []*orderFixture
}

func oneOf[T any](g *generator, of ...T) T { return of[g.random.IntN(len(of))] }

// order is the body of an order and the key that places it.
func (g *generator) order(t *testing.T, w *orderFixture) (key, body string) {
	t.Helper()
	changes := []change{with("externalOrderId", oneOf(g, "o-", "p-", "q-")+strconv.Itoa(g.random.IntN(200))), g.item(w)}
	if w.required != "" && g.random.IntN(4) > 0 {
		changes = append(changes, with("customFields", []any{record{"fieldId": w.required, "textValue": "4711"}}))
	}
	for range max(0, g.random.IntN(2*mostChangesOfDryRun)-mostChangesOfDryRun+1) {
		changes = append(changes, g.change(w))
	}
	return oneOf(g, w.keys[0], w.keys[0], w.keys[1], w.keys[2]), w.body(t, changes...)
}

// item chooses what is ordered, and from where.
func (g *generator) item(w *orderFixture) change {
	sizes := record{"Size": oneOf(g, "S", "M", "S", "XL")}
	switch g.random.IntN(6) {
	case 0:
		return custom("1.00", "SEK")
	case 1:
		return ofGift(w.product)
	case 2:
		return ofGift(w.rich.GetId(), record{"Size": "M", "Colour": "Red"})
	case 3:
		return ofGift(w.sized.GetId(), sizes)
	default:
		gift := oneOf(g, w.sized, w.sized, w.sized, w.gone, w.abroad, w.rich)
		return all(ofCampaign(oneOf(g, w.campaigns...)), ofGift(gift.GetId(), sizes))
	}
}

// change spoils an order, or changes what does not matter.
func (g *generator) change(w *orderFixture) change {
	if g.random.IntN(3) == 0 {
		invalid := invalidOrders()
		return invalid[oneOf(g, slices.Sorted(maps.Keys(invalid))...)]
	}
	return oneOf(g,
		without("brandId"), with("brandId", w.brand), with("brandId", w.other), with("brandId", w.foreign), with("brandId", "x"),
		with("campaignId", oneOf(g, w.campaigns...)), with("campaignId", 1), with("campaignId", nil),
		with("items.0.productId", oneOf(g, w.gone.GetId(), w.abroad.GetId(), uuid.NewString(), "x")),
		with("items.0.variations",
			oneOf[any](g, record{}, record{"Size": "M"}, record{"Size": 1}, record{"Size": "s", "Colour": "Red"}, nil)),
		with("recipient.address.country", oneOf(g, "NO", "FI", "IE", "XX", "")),
		without("recipient.address.postalCode"), without("recipient"), without("client"), without("items"), without("externalOrderId"),
		with("managerEmail", oneOf(g, managerEmail, formerMember, "nobody@conformance.example", " ")),
		with("customization", record{"details": "A. B."}), with("urgent", true),
		with("customFields", []any{record{"fieldId": w.choice, "textValue": oneOf(g, "Jackpot", "Funeral")}}),
		with("customFields", []any{
			record{"fieldId": w.choice, "textValue": "Jackpot"}, record{"fieldId": w.choice, "textValue": "Jackpot"},
		}),
		with("items.0.budget", record{"amount": "5.00", "currency": oneOf(g, "SEK", "EUR")}),
	)
}
