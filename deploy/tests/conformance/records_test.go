package conformance_test

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/problem"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

type record = map[string]any

// body is an order of the fixture's gift after the changes.
func (f *fixture) body(t *testing.T, changes ...change) string {
	t.Helper()
	return f.Order(t, slices.Concat([]change{with("brandId", f.brand), ofGift(f.product)}, changes)...)
}

// place places an order and returns it.
func (f *fixture) place(t *testing.T, changes ...change) record {
	t.Helper()
	placed := f.Post(t, f.key, "/orders", f.body(t, changes...))
	require.Equal(t, http.StatusCreated, placed.Status, placed.Body)
	return placed.Object(t)
}

// invalid checks that an order with the changes has exactly this violation, a field and its code.
func (f *fixture) invalid(t *testing.T, violation string, changes ...change) {
	t.Helper()
	f.Post(t, f.key, "/orders", f.body(t, changes...)).Invalid(t, violation)
}

// refuse checks that an order with the changes is refused with the code.
func (f *fixture) refuse(t *testing.T, code problem.Code, changes ...change) record {
	t.Helper()
	return f.Post(t, f.key, "/orders", f.body(t, changes...)).Problem(t, code)
}

// batchOf is a batch for the fixture's gift with one recipient, after the changes.
func (f *fixture) batchOf(t *testing.T, changes ...change) string {
	t.Helper()
	return f.Batch(t, slices.Concat([]change{with("brandId", f.brand), with("productIds", []any{f.product})}, changes)...)
}

// link makes one link.
func (f *fixture) link(t *testing.T, changes ...change) record {
	t.Helper()
	made := results(t, f.Post(t, f.key, batches, f.batchOf(t, changes...)))
	require.Len(t, made, 1)
	require.Equal(t, "CREATED", made[0].Outcome, "%v", made[0].Errors)
	return made[0].Link
}

// claim takes the first gift of the link that goes to Sweden, and returns the link.
func (f *fixture) claim(t *testing.T, link record) record {
	t.Helper()
	claimed, err := f.GiftSite(t).ClaimLink(t.Context(), f.choiceOf(t, link))
	require.NoError(t, err)
	require.Equal(t, linksv1.ClaimState_CLAIM_STATE_CLAIMED, claimed.GetState())
	return f.read(t, "/personal-links/"+idOf(link))
}

// claimed makes a link and claims it.
func (f *fixture) claimed(t *testing.T, changes ...change) record {
	t.Helper()
	return f.claim(t, f.link(t, changes...))
}

// orderOf is the order of a claimed link.
func (f *fixture) orderOf(t *testing.T, link record) record {
	t.Helper()
	return f.read(t, "/orders/"+link["orderId"].(string))
}

// page is the page of a link.
func (f *fixture) page(t *testing.T, link record) *linksv1.GetClaimPageResponse {
	t.Helper()
	page, err := f.GiftSite(t).GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: tokenOf(link)})
	require.NoError(t, err)
	return page
}

// choiceOf is the request that claims the first gift of the page that goes to Sweden.
func (f *fixture) choiceOf(t *testing.T, link record) *linksv1.ClaimLinkRequest {
	t.Helper()
	gifts := f.page(t, link).GetGifts()
	i := slices.IndexFunc(gifts, func(g *linksv1.ClaimGift) bool {
		return !g.GetOutOfStock() && slices.Contains(g.GetCountries(), "SE")
	})
	require.GreaterOrEqual(t, i, 0, "no gift goes to Sweden")
	variations := map[string]string{}
	for _, v := range gifts[i].GetVariations() {
		variations[v.GetDimension()] = v.GetValues()[0]
	}
	if choices := gifts[i].GetChoices(); len(choices) > 0 {
		variations = choices[0].GetVariations()
	}
	email, postalCode := harness.MarkedEmail, "621 57"
	return &linksv1.ClaimLinkRequest{
		Token: tokenOf(link), ProductId: gifts[i].GetProductId(), Variations: variations,
		Recipient: &linksv1.ClaimRecipient{
			Name: harness.MarkedName, Phone: harness.MarkedPhone, Email: &email, Street: harness.MarkedStreet, City: "Visby",
			PostalCode: &postalCode, Country: "SE",
		},
	}
}

func tokenOf(link record) string {
	address, _ := link["claimUrl"].(string)
	return address[strings.LastIndex(address, "/")+1:]
}

// result is an entry of a batch's answer.
type result struct {
	Outcome string
	Link    record
	Errors  []struct{ Field, Code, Message string }
}

func (r result) violations() (out []string) {
	for _, e := range r.Errors {
		out = append(out, e.Field+" "+e.Code)
	}
	return out
}

func results(t *testing.T, a answer) []result {
	t.Helper()
	require.Equal(t, http.StatusOK, a.Status, a.Body)
	var body struct{ Results []result }
	require.NoError(t, json.Unmarshal([]byte(a.Body), &body))
	return body.Results
}

// read reads the record at the path.
func (f *fixture) read(t *testing.T, path string) record {
	t.Helper()
	return f.Get(t, f.key, path).OK(t)
}

// list reads the items of a page.
func (f *fixture) list(t *testing.T, key, path string) []record {
	t.Helper()
	items, _ := f.Page(t, key, path)
	return items
}

// requireEvents waits until the key's feed has events of the record with exactly these types, in this order.
func (f *fixture) requireEvents(t *testing.T, key, recordID string, types ...string) []event {
	t.Helper()
	var found []event
	require.Eventually(t, func() bool {
		events, ok := f.TryFeed(t, key)
		found = slices.DeleteFunc(events, func(e event) bool { return !e.About(recordID) })
		return ok && len(found) >= len(types)
	}, harness.Slow, 50*time.Millisecond, "the feed has not %v", types)
	got := make([]string, len(found))
	for i, e := range found {
		got[i] = e.Type
	}
	require.Equal(t, types, got)
	return found
}

// requireLast checks the events of a link, the last with the link's current state.
func (f *fixture) requireLast(t *testing.T, link record, types ...string) {
	t.Helper()
	events := f.requireEvents(t, f.key, idOf(link), types...)
	require.Equal(t, link, events[len(events)-1].Record(t))
}

// requireStatusChange checks the events of an order, the last with the order's current state and the previous status.
func (f *fixture) requireStatusChange(t *testing.T, orderID, before string, types ...string) {
	t.Helper()
	events := f.requireEvents(t, f.key, orderID, types...)
	require.Equal(t, record{"order": f.read(t, "/orders/"+orderID), "previousStatus": before}, events[len(events)-1].Record(t))
}

// placeAs lets a person place an order, and reads it.
func (f *fixture) placeAs(t *testing.T, actor *commonv1.Actor) record {
	t.Helper()
	return f.read(t, "/orders/"+f.placedBy(t, actor))
}

// placedBy lets a person place an order and returns its id.
func (f *fixture) placedBy(t *testing.T, actor *commonv1.Actor) string {
	t.Helper()
	placed, err := f.Orders(t).PlaceOrderAs(t.Context(), &ordersv1.PlaceOrderAsRequest{
		Actor: actor, TenantId: f.tenant, OrderId: uuid.NewString(), Order: &ordersv1.PlaceOrderRequest{
			BrandId: &f.brand, Items: []*ordersv1.OrderItemInput{{ProductId: &f.product}},
			Client: &ordersv1.OrderClient{Name: harness.MarkedName},
			Recipient: &ordersv1.OrderRecipient{Name: harness.MarkedName, Phone: harness.MarkedPhone, Address: &ordersv1.OrderAddress{
				Street: harness.MarkedStreet, City: "Dublin", Country: "IE",
			}},
		},
	})
	require.NoError(t, err)
	return placed.GetOrder().GetId()
}

func (f *fixture) approve(t *testing.T, actor *commonv1.Actor, orderID string) error {
	t.Helper()
	_, err := f.Orders(t).ApproveOrder(t.Context(), &ordersv1.ApproveOrderRequest{Actor: actor, TenantId: f.tenant, OrderId: orderID})
	return err
}

func (f *fixture) approveLink(t *testing.T, actor *commonv1.Actor, link record) error {
	t.Helper()
	_, err := f.Links(t).ApprovePersonalLink(t.Context(), &linksv1.ApprovePersonalLinkRequest{
		Actor: actor, TenantId: f.tenant, LinkId: idOf(link),
	})
	return err
}

// dispatch lets the operator send the order.
func (f *fixture) dispatch(t *testing.T, orderID string) record {
	t.Helper()
	_, err := f.Orders(t).DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor: operator, TenantId: f.tenant, OrderId: orderID,
		Shipment: &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://carrier.example/T-1"},
	})
	require.NoError(t, err)
	return f.read(t, "/orders/"+orderID)
}

// cancel cancels the record at the path.
func (f *fixture) cancel(t *testing.T, path string) record {
	t.Helper()
	return f.Post(t, f.key, path+":cancel", `{"reason": "Another reward."}`).OK(t)
}

func (f *fixture) cancelAs(t *testing.T, actor *commonv1.Actor, orderID string) {
	t.Helper()
	_, err := f.Orders(t).CancelOrderAs(t.Context(), &ordersv1.CancelOrderAsRequest{
		Actor: actor, TenantId: f.tenant, OrderId: orderID, Reason: "Called in.",
	})
	require.NoError(t, err)
}

// correctStatus lets the operator set the order's status.
func (f *fixture) correctStatus(t *testing.T, orderID string, to ordersv1.OrderStatus) {
	t.Helper()
	require.NoError(t, f.tryCorrectStatus(t, orderID, to))
}

func (f *fixture) tryCorrectStatus(t *testing.T, orderID string, to ordersv1.OrderStatus) error {
	t.Helper()
	request := &ordersv1.CorrectStatusRequest{Actor: operator, TenantId: f.tenant, OrderId: orderID, Status: to}
	if to == ordersv1.OrderStatus_ORDER_STATUS_CANCELLED {
		request.Reason = "First reason."
	}
	_, err := f.Orders(t).CorrectStatus(t.Context(), request)
	return err
}

// orderIn places an order and has the operator set its status.
func (f *fixture) orderIn(t *testing.T, status string) record {
	t.Helper()
	order := f.place(t)
	if status != "PROCESSING" {
		f.correctStatus(t, idOf(order), ordersv1.OrderStatus(ordersv1.OrderStatus_value["ORDER_STATUS_"+status]))
	}
	return f.read(t, "/orders/"+idOf(order))
}

func (f *fixture) postMessageAs(t *testing.T, orderID string, author *commonv1.Actor, body string) {
	t.Helper()
	_, err := f.Orders(t).PostMessageAs(t.Context(), &ordersv1.PostMessageAsRequest{
		Actor: author, TenantId: f.tenant, OrderId: orderID, MessageId: uuid.NewString(), Body: body,
	})
	require.NoError(t, err)
}

func (f *fixture) messages(t *testing.T, key, orderID string) []record {
	t.Helper()
	return f.Array(t, key, "/orders/"+orderID+"/messages")
}

// readAsOperator reads an order with all its details.
func (f *fixture) readAsOperator(t *testing.T, order record) *ordersv1.ReadOrderResponse {
	t.Helper()
	read, err := f.Orders(t).ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{
		Actor: operator, TenantId: f.tenant, OrderId: idOf(order),
	})
	require.NoError(t, err)
	return read
}

// readLinkAsTeam reads a link with all its details.
func (f *fixture) readLinkAsTeam(t *testing.T, link record) *linksv1.PersonalLinkDetails {
	t.Helper()
	read, err := f.Links(t).ReadPersonalLink(t.Context(), &linksv1.ReadPersonalLinkRequest{
		Actor: f.coordinator, TenantId: f.tenant, LinkId: idOf(link),
	})
	require.NoError(t, err)
	return read.GetDetails()
}

// update corrects the delivery of the order in the version that was read.
func (f *fixture) update(t *testing.T, order record, members string) record {
	t.Helper()
	return f.sendUpdate(t, order, members).OK(t)
}

func (f *fixture) sendUpdate(t *testing.T, order record, members string) answer {
	t.Helper()
	version := strconv.FormatFloat(order["version"].(float64), 'f', 0, 64)
	return f.Post(t, f.key, "/orders/"+idOf(order)+":update-delivery", `{"expectedVersion": `+version+`, `+members+`}`)
}

func idOf(r record) string {
	id, _ := r["id"].(string)
	return id
}

// ids are the ids of the records, in their order.
func ids(records ...record) []any { return column(records, "id") }

// column is the member of each record.
func column(records []record, name string) []any {
	out := make([]any, len(records))
	for i, r := range records {
		out[i] = r[name]
	}
	return out
}

// namesOf are the members of a record.
func namesOf(r record) (names []string) {
	for name := range r {
		names = append(names, name)
	}
	return names
}

// at returns the member at the path, such as items.0.kind, or nil.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		switch holder := value.(type) {
		case record:
			value = holder[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(holder) {
				return nil
			}
			value = holder[i]
		default:
			return nil
		}
	}
	return value
}

// freshText is a random text with the length in characters.
func freshText(length int) string {
	return string([]rune(rand.Text() + strings.Repeat("å", length))[:length])
}

// address is an e-mail address of the length.
func address(length int) string {
	const local, domain = 60, "example.org"
	labels := ""
	for rest := length - local - len("@"+domain); rest > 0; {
		size := min(rest, local)
		if rest-size == 1 {
			size-- // A label has a letter before its dot.
		}
		labels += strings.Repeat("b", size-1) + "."
		rest -= size
	}
	return strings.Repeat("a", local) + "@" + labels + domain
}

func repeated(n int, element any) []any { return slices.Repeat([]any{element}, n) }

// testNullsInOrders places each order twice: once without its optional members, and once with null in all of them.
func (f *fixture) testNullsInOrders(t *testing.T) {
	gift := f.putGift(t, "S")
	campaign := f.campaign(t, -1, gift)
	everywhere := []string{
		"managerEmail", "urgent", "customization", "customFields", "client.email", "recipient.email",
		"afterHoursServiceAccepted", "brandedPackagingRequested",
	}
	for _, text := range orderTexts {
		everywhere = append(everywhere, text.path)
	}
	requirement(t, "PLA-65", func(t *testing.T) {
		for _, order := range []struct {
			of    []change
			nulls []string
		}{
			{nil, []string{"campaignId", "items.0.variations", "items.0.customProductName", "items.0.budget"}},
			{[]change{custom("1.00", "SEK")}, []string{"campaignId", "items.0.productId", "items.0.variations"}},
			{
				[]change{ofCampaign(campaign.GetId()), ofGift(gift.GetId(), small())},
				[]string{"brandId", "items.0.customProductName", "items.0.budget"},
			},
		} {
			toIreland := with("recipient.address.country", "IE") // In Ireland a postal code is optional.
			bare, null := append(order.of, toIreland), append(order.of, toIreland)
			for _, path := range append(everywhere, order.nulls...) {
				bare, null = append(bare, without(path)), append(null, with(path, nil))
			}
			left, sent := f.place(t, bare...), f.place(t, null...)
			ofLeft, ofSent := f.readAsOperator(t, left), f.readAsOperator(t, sent)
			require.True(t, proto.Equal(ofLeft.GetDetails(), ofSent.GetDetails()), "%v", ofSent.GetDetails())
			require.True(t, proto.Equal(ofLeft.GetFulfilment(), ofSent.GetFulfilment()), "%v", ofSent.GetFulfilment())
			requireAlike(t, left, sent, "id", "reference", "externalOrderId", "createdAt", "updatedAt")
		}
	})
}

// testNullsInBatches does the same with recipients of batches.
func (f *fixture) testNullsInBatches(t *testing.T) {
	campaign := f.campaign(t, -1, f.putGift(t, "S"))
	requirement(t, "BAT-46", func(t *testing.T) {
		for _, batch := range []struct {
			of    []change
			nulls []string
		}{
			{nil, []string{"campaignId"}},
			{[]change{fromCampaign(campaign.GetId())}, []string{"brandId", "productIds"}},
		} {
			bare, null := batch.of, batch.of
			for _, path := range batch.nulls {
				null = append(null, with(path, nil))
			}
			for _, member := range []string{"externalRecipientId", "email", "message", "locale", "customFields", "managerEmail"} {
				null = append(null, recipient(member, nil))
			}
			left, sent := f.link(t, bare...), f.link(t, null...)
			ofLeft, ofSent := f.readLinkAsTeam(t, left), f.readLinkAsTeam(t, sent)
			ofLeft.Link, ofSent.Link, ofLeft.BatchId, ofSent.BatchId = nil, nil, "", ""
			require.Equal(t, "en-US", ofSent.GetLocale())
			require.True(t, proto.Equal(ofLeft, ofSent), "%v", ofSent)
			requireAlike(t, left, sent, "id", "claimUrl", "createdAt", "updatedAt")
		}
	})
}

// requireAlike checks that two records differ only in these members.
func requireAlike(t *testing.T, one, other record, own ...string) {
	t.Helper()
	for _, name := range own {
		delete(one, name)
		delete(other, name)
	}
	require.Equal(t, one, other)
}
