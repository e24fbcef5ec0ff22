//go:build faults

package faults_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/identity"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// keptRecords are what was written in the mixes of an upgrade, with each form in which the platform stores or hands out a value:
// records, sealed columns, stored responses, tokens and cursors.
type keptRecords struct {
	// users reach the first and the second instance of each service.
	users [2]*upgradeUser
	all   []keptRecord
}

// keptRecord is a response that must stay the same.
type keptRecord struct {
	mix, name string
	read      func(t *testing.T, by *upgradeUser) string
	first     string
}

func newKeptRecords(t *testing.T, f *fixture) *keptRecords {
	t.Helper()
	// They have a tenant of their own, because the changes of the others are compared with what their writers know.
	kept, tenant, brand := &keptRecords{}, uuid.NewString(), uuid.NewString()
	_, err := f.keys.PutTenant(t.Context(), &tenantsv1.PutTenantRequest{
		Actor: staff, Id: tenant, Name: "Kept", Locales: []string{"sv-SE"}, Currency: "SEK", ApiAccess: true,
	})
	require.NoError(t, err)
	north := &tenantsv1.Brand{Id: brand, Name: "North", Slug: "kept", PrimaryColour: proto.String("#1B4B8F")}
	_, err = f.keys.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{Actor: staff, TenantId: tenant, Brand: north})
	require.NoError(t, err)
	key := f.newReader(t, "kept", tenant, "", allScopes...).key
	for n := range kept.users {
		by := f.client.with(key)
		by.bases = by.bases[n : n+1]
		kept.users[n] = &upgradeUser{
			client: by, product: f.env["GIFTING_PRODUCT_ID"], tenant: tenant, brand: brand,
			operations: ordersv1.NewOrderOperationsServiceClient(f.dial(t, identity.Orders, n)),
			giftSite:   linksv1.NewGiftSiteServiceClient(f.dial(t, identity.PersonalLinks, n)),
		}
	}
	return kept
}

// add writes records through both instances, and keeps what is read of them.
func (k *keptRecords) add(t *testing.T, mix string) {
	t.Helper()
	for _, by := range k.users {
		for name, read := range by.write(t) {
			k.all = append(k.all, keptRecord{mix: mix, name: name, read: read, first: read(t, by)})
		}
	}
}

// differences reads all records through both instances and describes what is no longer the same.
func (k *keptRecords) differences(t *testing.T) (found []string) {
	t.Helper()
	for _, one := range k.all {
		for n, by := range k.users {
			if now := one.read(t, by); now != one.first {
				found = append(found, fmt.Sprintf("%s, written in the mix %q, was %s, and instance %d says %s",
					one.name, one.mix, one.first, n+1, now))
			}
		}
	}
	return found
}

// upgradeUser is an integrator, an operator and a player.
type upgradeUser struct {
	client                 *client
	product, tenant, brand string
	operations             ordersv1.OrderOperationsServiceClient
	giftSite               linksv1.GiftSiteServiceClient
}

// write makes an order with a message and three links, and returns what reads them again, by name.
func (u *upgradeUser) write(t *testing.T) map[string]func(t *testing.T, by *upgradeUser) string {
	t.Helper()
	place := newPost("/orders", toJSON(orderBody(u.product, u.brand)))
	order := u.requireRecord(t, u.send(t, place))
	u.send(t, newPost("/orders/"+order+"/messages", `{"body": "When does it come?"}`))
	makeLinks := newPost("/personal-links:create-batch", toJSON(batchBody(u.product, u.brand, 3)))
	var made struct {
		Results []struct {
			Link struct{ ID, ClaimURL string }
		}
	}
	require.NoError(t, json.Unmarshal([]byte(u.send(t, makeLinks)), &made))
	require.Len(t, made.Results, 3)
	open, begun, claimed := path.Base(made.Results[0].Link.ClaimURL), path.Base(made.Results[1].Link.ClaimURL),
		claim(path.Base(made.Results[2].Link.ClaimURL), u.product)
	nonce := rand.Text()
	_, err := u.giftSite.SaveClaimDraft(t.Context(), &linksv1.SaveClaimDraftRequest{
		Token: begun, FormNonce: nonce, Recipient: claimed.GetRecipient(), Gift: &linksv1.ClaimChoiceOfGift{ProductId: u.product},
	})
	require.NoError(t, err)
	claimed.FormNonce = &nonce
	_, err = u.giftSite.ClaimLink(t.Context(), claimed)
	require.NoError(t, err)
	return map[string]func(t *testing.T, by *upgradeUser) string{
		"the stored response of an order": resend(place),
		"the stored response of links":    resend(makeLinks),
		"an order":                        get("/orders/" + order),
		"a message":                       get("/orders/" + order + "/messages"),
		"a link":                          get("/personal-links/" + made.Results[0].Link.ID),
		"a page of orders":                ids("/orders?limit=1&after=" + u.cursor(t, "/orders?limit=1")),
		"a page of links":                 ids("/personal-links?limit=1&after=" + u.cursor(t, "/personal-links?limit=1")),
		"a page of events":                get("/events?limit=1&after=" + u.cursor(t, "/events?limit=1")),
		"the details of an order": func(t *testing.T, by *upgradeUser) string {
			return shown(by.operations.ReadOrder(t.Context(), &ordersv1.ReadOrderRequest{
				Actor: staff, TenantId: u.tenant, OrderId: order,
			}))
		},
		"the page of a link": func(t *testing.T, by *upgradeUser) string {
			return shown(by.giftSite.GetClaimPage(t.Context(), &linksv1.GetClaimPageRequest{Token: open}))
		},
		"a draft": func(t *testing.T, by *upgradeUser) string {
			return shown(by.giftSite.GetClaimDraft(t.Context(), &linksv1.GetClaimDraftRequest{Token: begun, FormNonce: nonce}))
		},
		"a claimed gift": func(t *testing.T, by *upgradeUser) string {
			return shown(by.giftSite.GetClaimedGift(t.Context(), &linksv1.GetClaimedGiftRequest{
				Token: claimed.GetToken(), FormNonce: &nonce,
			}))
		},
	}
}

func newPost(path, body string) call {
	return call{method: http.MethodPost, path: path, body: body, idempotencyKey: rand.Text()}
}

// send returns the body of the response.
func (u *upgradeUser) send(t *testing.T, what call) string {
	t.Helper()
	a, ok := u.client.send(t.Context(), what)
	require.True(t, ok, "%s %s: %d %s", what.method, what.path, a.status, a.body)
	return a.body
}

func (u *upgradeUser) requireRecord(t *testing.T, body string) (id string) {
	t.Helper()
	record, err := parseRecord([]byte(body))
	require.NoError(t, err)
	require.NotEmpty(t, record.ID, body)
	return record.ID
}

// cursor returns the cursor of the page after this one.
func (u *upgradeUser) cursor(t *testing.T, path string) string {
	t.Helper()
	_, next, err := parsePage(u.send(t, call{method: http.MethodGet, path: path}), parseRecord)
	require.NoError(t, err)
	require.NotEmpty(t, next, path)
	return next
}

func resend(what call) func(t *testing.T, by *upgradeUser) string {
	return func(t *testing.T, by *upgradeUser) string {
		a, _ := by.client.send(t.Context(), what)
		return a.body
	}
}

func get(path string) func(t *testing.T, by *upgradeUser) string {
	return resend(call{method: http.MethodGet, path: path})
}

// ids returns the identifiers of a page, because others change its records.
func ids(path string) func(t *testing.T, by *upgradeUser) string {
	read := get(path)
	return func(t *testing.T, by *upgradeUser) string {
		page := read(t, by)
		records, _, err := parsePage(page, parseRecord)
		if err != nil || len(records) == 0 {
			return page
		}
		return records[0].ID
	}
}

// shown is a response of gRPC as text.
func shown[M proto.Message](response M, err error) string {
	if err != nil {
		return err.Error()
	}
	text, err := protojson.Marshal(response)
	if err != nil {
		return err.Error()
	}
	return addedMember.ReplaceAllString(string(text), "")
}

// addedMember matches members of responses that release 1.0.0 does not have, with the comma before them: they are not the first.
var addedMember = regexp.MustCompile(`, ?"(?:acceptsThanks|takesInitials)": ?true`)
