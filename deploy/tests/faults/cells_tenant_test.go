//go:build faults

package faults_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// giftsWithin is how long a new cell may take to have the gifts.
const giftsWithin = time.Minute

// TestCellsServeTenantsOfBothAlike uses the API for a tenant of another cell, through the same gateways.
func TestCellsServeTenantsOfBothAlike(t *testing.T) {
	r := newReport(t, 0)
	d := newDeployment(t, options{binaries: buildPrograms(t, "", nil), direct: true, logs: r.dir, cells: []string{"b"}})
	d.awaitGifts(t.Context(), t, "b", seed.Direct)
	c := newCellTenant(t, d, "b")
	t.Run("the catalog has the gifts of the first cell", c.testCatalog)
	t.Run("an order", c.testOrder)
	t.Run("a repeated request", c.testRepetition)
	t.Run("a call that waits for an event", c.testLongCall)
	t.Run("a webhook", c.testWebhook)
	t.Run("a link", c.testLink)
	t.Run("its records are not in the first cell", c.testFirstCell)
}

// cellTenant is a tenant of a cell, with a brand and a key.
type cellTenant struct {
	*harness.Platform

	deployment              *deployment
	id, brand, product, key string
}

func newCellTenant(t *testing.T, d *deployment, cell string) *cellTenant {
	t.Helper()
	c := &cellTenant{
		Platform: harness.New(t, local.Config{}, d.env), deployment: d,
		id: uuid.NewString(), brand: uuid.NewString(), product: d.env["GIFTING_PRODUCT_ID"],
	}
	_, err := d.keys.PutTenant(t.Context(), &tenantsv1.PutTenantRequest{
		Actor: staff, Id: c.id, Name: "Bee", Locales: []string{"sv-SE"}, Currency: seed.Currency, ApiAccess: true, Cell: cell,
	})
	require.NoError(t, err)
	_, err = d.keys.PutBrand(t.Context(), &tenantsv1.PutBrandRequest{
		Actor: staff, TenantId: c.id, Brand: &tenantsv1.Brand{Id: c.brand, Name: "Bee", Slug: "bee"},
	})
	require.NoError(t, err)
	require.Equal(t, cell, d.cellOf(t, c.id))
	c.key = c.newKey(t).key
	return c
}

func (c *cellTenant) newKey(t *testing.T) reader {
	t.Helper()
	return c.deployment.newReader(t, "a key", c.id, "", allScopes...)
}

// place places an order with a key and returns it.
func (c *cellTenant) place(t *testing.T, key string) map[string]any {
	t.Helper()
	return c.Post(t, key, "/orders", harness.JSON(t, orderBody(c.product, c.brand))).OK(t)
}

// newLink makes a link and returns it.
func (c *cellTenant) newLink(t *testing.T) snapshot {
	t.Helper()
	made := c.Post(t, c.key, "/personal-links:create-batch", harness.JSON(t, batchBody(c.product, c.brand, 1)))
	var batch struct {
		Results []struct{ Link json.RawMessage }
	}
	require.NoError(t, json.Unmarshal([]byte(made.Body), &batch), made.Body)
	require.Len(t, batch.Results, 1, made.Body)
	link, err := parseRecord(batch.Results[0].Link)
	require.NoError(t, err)
	return link
}

func (c *cellTenant) testCatalog(t *testing.T) {
	path := "/catalog/products/" + c.product + "?country=SE"
	ofFirst := c.Get(t, c.DemoKey(t), path).OK(t)
	require.Eventually(t, func() bool { return c.Get(t, c.key, path).Status == http.StatusOK }, giftsWithin, time.Second)
	require.Equal(t, ofFirst["name"], c.Get(t, c.key, path).OK(t)["name"])
}

func (c *cellTenant) testOrder(t *testing.T) {
	order := c.place(t, c.key)
	require.True(t, strings.HasPrefix(order["reference"].(string), "GB-"), order["reference"])
	id, _ := order["id"].(string)
	require.Equal(t, id, c.Get(t, c.key, "/orders/"+id).OK(t)["id"])
	require.Equal(t, "order.created", c.Await(t, c.key, harness.Slow, id).Type)
}

func (c *cellTenant) testRepetition(t *testing.T) {
	call := harness.Call{
		Method: http.MethodPost, Path: "/orders", Key: c.key, IdempotencyKey: uuid.NewString(),
		Body: harness.JSON(t, orderBody(c.product, c.brand)),
	}
	first, again := c.Do(t, call), c.Do(t, call)
	require.Equal(t, http.StatusCreated, first.Status, first.Body)
	require.Equal(t, first.Body, again.Body)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
}

// testLongCall places an order while a call waits for the next event. Both gateways are asked: only one has placed the order.
func (c *cellTenant) testLongCall(t *testing.T) {
	const wait = 10 * time.Second
	for _, gateway := range []int{0, 1} {
		follows := newFollower(reader{key: c.newKey(t).key}, c.deployment.newClient(t, newResults()), nil)
		follows.client.bases = follows.client.bases[gateway : gateway+1]
		a, err := follows.client.try(t.Context(), call{method: http.MethodGet, path: "/events?limit=100"})
		require.NoError(t, err)
		_, next, err := parsePage(a.body, parseEvent)
		require.NoError(t, err)
		path := "/events?wait=10"
		if next != "" {
			path += "&after=" + next
		}
		began, answered := time.Now(), make(chan answer, 1)
		go func() {
			a, _ := follows.client.try(context.WithoutCancel(t.Context()), call{method: http.MethodGet, path: path})
			answered <- a
		}()
		order := c.place(t, c.key)
		held := <-answered
		require.Contains(t, held.body, order["id"])
		require.Less(t, time.Since(began), wait)
	}
}

// testWebhook places an order with another key: no key is sent its own changes.
func (c *cellTenant) testWebhook(t *testing.T) {
	to := c.newKey(t)
	box := inbox.New(to.secret)
	server := httptest.NewServer(box.Handler())
	t.Cleanup(server.Close)
	c.deployment.setWebhook(t, to, server.URL)
	id, _ := c.place(t, c.key)["id"].(string)
	require.Eventually(t, func() bool {
		for _, arrived := range box.Deliveries() {
			if strings.Contains(arrived.Raw, id) {
				return arrived.Verified
			}
		}
		return false
	}, harness.Slow, 50*time.Millisecond)
}

func (c *cellTenant) testLink(t *testing.T) {
	link := c.newLink(t)
	require.True(t, strings.HasPrefix(path.Base(link.ClaimURL), "b"), link.ClaimURL)
	page := harness.NewPlayer(t, link.ClaimURL)
	require.Contains(t, page.Get(t, ""), "A gift for "+harness.MarkedName)
	require.Contains(t, page.Claim(t, c.product), "Thank you")
	claimed := c.Get(t, c.key, "/personal-links/"+link.ID).OK(t)
	require.Equal(t, "CLAIMED", claimed["status"])
	order := c.Get(t, c.key, "/orders/"+claimed["orderId"].(string)).OK(t)
	require.True(t, strings.HasPrefix(order["reference"].(string), "GB-"), order["reference"])
}

func (c *cellTenant) testFirstCell(t *testing.T) {
	for database, table := range map[string]string{
		"orders": "orders", "links": "links", "events": "feed", "webhook": "deliveries",
	} {
		count := "SELECT count(*) FROM " + table + " WHERE tenant_id = $1"
		for cell, has := range map[string]bool{"a": false, "b": true} {
			var rows int
			require.NoError(t, c.deployment.connect(t, inCell(cell, database)).QueryRow(t.Context(), count, c.id).Scan(&rows))
			require.Equal(t, has, rows > 0, "%s of cell %s has %d rows", table, cell, rows)
		}
	}
}
