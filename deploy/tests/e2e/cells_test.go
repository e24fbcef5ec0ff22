package e2e_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/inbox"
	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/identity"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// TestCells uses the API for a tenant of a second cell, moves the tenant to the first one, and uses what it had before.
func TestCells(t *testing.T) {
	t.Parallel()
	cfg := harness.NewConfig(t)
	cfg.PostgresURL, cfg.Cells = "", []string{"b"} // That of the tests has no logical replication.
	c := newCellTenant(t, harness.StartWith(t, cfg))
	t.Run("the catalog has the gifts of the first cell", c.testCatalog)
	t.Run("an order", c.testOrder)
	t.Run("a repeated request", c.testRepetition)
	t.Run("a call that waits for an event", c.testLongCall)
	t.Run("a webhook", c.testWebhook)
	t.Run("a link", c.testLink)
	t.Run("its rows are in its cell only", func(t *testing.T) { c.requireRowsIn(t, "b") })
	t.Run("it moves to the first cell", c.testMove)
}

// cellTenant is a tenant of the cell b, with a brand and a key.
type cellTenant struct {
	*harness.Platform

	id, brand, key string
}

func newCellTenant(t *testing.T, p *harness.Platform) *cellTenant {
	t.Helper()
	c := &cellTenant{Platform: p, id: uuid.NewString(), brand: uuid.NewString()}
	p.PutTenant(t, c.id, c.brand, "b")
	c.key = p.NewKey(t, c.id).GetApiKey()
	return c
}

// place places an order.
func (c *cellTenant) place(t *testing.T) map[string]any {
	t.Helper()
	return c.tryPlace(t).OK(t)
}

func (c *cellTenant) tryPlace(t *testing.T) harness.Answer {
	t.Helper()
	return c.Post(t, c.key, "/orders", harness.JSON(t, harness.OrderOf(c.Env["GIFTING_PRODUCT_ID"], c.brand)))
}

// newLink makes a link and returns it.
func (c *cellTenant) newLink(t *testing.T) map[string]any {
	t.Helper()
	made := c.Post(t, c.key, "/personal-links:create-batch", harness.JSON(t, map[string]any{
		"brandId": c.brand, "productIds": []string{c.Env["GIFTING_PRODUCT_ID"]}, "recipients": []any{map[string]any{"label": "Ann"}},
	})).OK(t)
	result, _ := made["results"].([]any)[0].(map[string]any)
	link, _ := result["link"].(map[string]any)
	require.NotEmpty(t, link, made)
	return link
}

func (c *cellTenant) testCatalog(t *testing.T) {
	path := "/catalog/products/" + c.Env["GIFTING_PRODUCT_ID"] + "?country=SE"
	ofFirst := c.Get(t, c.DemoKey(t), path).OK(t)
	require.Eventually(t, func() bool { return c.Get(t, c.key, path).Status == http.StatusOK }, time.Minute, time.Second)
	require.Equal(t, ofFirst["name"], c.Get(t, c.key, path).OK(t)["name"])
}

func (c *cellTenant) testOrder(t *testing.T) {
	order := c.place(t)
	require.True(t, strings.HasPrefix(order["reference"].(string), "GB-"), order["reference"])
	id, _ := order["id"].(string)
	require.Equal(t, id, c.Get(t, c.key, "/orders/"+id).OK(t)["id"])
	require.Equal(t, "order.created", c.Await(t, c.key, harness.Slow, id).Type)
}

func (c *cellTenant) testRepetition(t *testing.T) {
	call := c.newCall(t)
	first, again := c.Do(t, call), c.Do(t, call)
	require.Equal(t, http.StatusCreated, first.Status, first.Body)
	requireReplayed(t, first, again)
}

func (c *cellTenant) newCall(t *testing.T) harness.Call {
	t.Helper()
	return harness.Call{
		Method: http.MethodPost, Path: "/orders", Key: c.key, IdempotencyKey: uuid.NewString(),
		Body: harness.JSON(t, harness.OrderOf(c.Env["GIFTING_PRODUCT_ID"], c.brand)),
	}
}

func requireReplayed(t *testing.T, first, again harness.Answer) {
	t.Helper()
	require.Equal(t, first.Body, again.Body)
	require.Equal(t, "true", again.Header.Get("Idempotent-Replayed"))
}

// testLongCall places an order while a call waits for the next event.
func (c *cellTenant) testLongCall(t *testing.T) {
	const wait = 10 * time.Second
	const before = 2 // The orders that were placed until now.
	require.Eventually(t, func() bool { return len(c.Feed(t, c.key)) == before }, harness.Slow, time.Second/10)
	_, next := c.Page(t, c.key, "/events?limit=100")
	request := c.Request(t, harness.Call{Method: http.MethodGet, Path: "/events?wait=10&after=" + next, Key: c.key})
	began, answered := time.Now(), make(chan harness.Answer, 1)
	go func() { answered <- harness.Exchange(t, request) }()
	order := c.place(t)
	require.Contains(t, (<-answered).Body, order["id"])
	require.Less(t, time.Since(began), wait)
}

// receive makes another key receive webhooks: no key is sent its own changes.
func (c *cellTenant) receive(t *testing.T) *inbox.Inbox {
	t.Helper()
	made := c.NewKey(t, c.id)
	box := inbox.New(made.GetWebhookSecret())
	server := httptest.NewServer(box.Handler())
	t.Cleanup(server.Close)
	_, err := c.Tenants(t).SetWebhookUrl(t.Context(), &tenantsv1.SetWebhookUrlRequest{
		Actor: seed.Installer, TenantId: c.id, KeyId: made.GetKey().GetId(), Url: proto.String(server.URL),
	})
	require.NoError(t, err)
	return box
}

// requireDelivered waits until webhooks about a record have arrived, and returns their number.
func requireDelivered(t *testing.T, box *inbox.Inbox, id string) (arrived int) {
	t.Helper()
	require.Eventually(t, func() bool {
		arrived = 0
		for _, d := range box.Deliveries() {
			if strings.Contains(d.Raw, id) && d.Verified {
				arrived++
			}
		}
		return arrived > 0
	}, harness.Slow, 50*time.Millisecond)
	return arrived
}

func (c *cellTenant) testWebhook(t *testing.T) {
	box := c.receive(t)
	id, _ := c.place(t)["id"].(string)
	requireDelivered(t, box, id)
}

func (c *cellTenant) testLink(t *testing.T) {
	order := c.claim(t, c.newLink(t))
	require.True(t, strings.HasPrefix(order["reference"].(string), "GB-"), order["reference"])
}

// claim claims a link of the cell b and returns the order.
func (c *cellTenant) claim(t *testing.T, link map[string]any) map[string]any {
	t.Helper()
	claimURL, _ := link["claimUrl"].(string)
	require.True(t, strings.HasPrefix(path.Base(claimURL), "b"), claimURL)
	player := harness.NewPlayer(t, claimURL)
	require.Contains(t, player.Get(t, ""), "A gift for Ann")
	require.Contains(t, player.Claim(t, c.Env["GIFTING_PRODUCT_ID"]), "Thank you")
	claimed := c.Get(t, c.key, "/personal-links/"+link["id"].(string)).OK(t)
	require.Equal(t, "CLAIMED", claimed["status"])
	return c.Get(t, c.key, "/orders/"+claimed["orderId"].(string)).OK(t)
}

// database connects to a database of a cell.
func (c *cellTenant) database(t *testing.T, cell, name string) *pgx.Conn {
	t.Helper()
	for of := range strings.SplitSeq(c.Programs[identity.Tenants]["GIFTING_CELL_DATABASES"], ",") {
		if letter, url, _ := strings.Cut(of, "="); letter == cell {
			conn, err := pgx.Connect(t.Context(), strings.ReplaceAll(url, "{database}", name))
			require.NoError(t, err)
			t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
			return conn
		}
	}
	require.FailNow(t, "no such cell", cell)
	return nil
}

// spoil adds an order to the copy in the first cell as soon as there is one. No request could.
func (c *cellTenant) spoil(t *testing.T) {
	t.Helper()
	copied := c.database(t, "a", "orders")
	require.Eventually(t, func() bool {
		var begun bool
		err := copied.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_subscription s JOIN pg_database d ON d.oid = s.subdbid
WHERE s.subname LIKE 'gifting_move_%' AND d.datname = current_database())`).Scan(&begun)
		return err == nil && begun
	}, time.Minute, 10*time.Millisecond)
	var order string
	const anyOrder = `SELECT to_jsonb(o) || jsonb_build_object(
  'id', gen_random_uuid(), 'reference', 'GB-SPOILT', 'external_order_id', 'spoilt') FROM orders o WHERE tenant_id = $1 LIMIT 1`
	require.NoError(t, c.database(t, "b", "orders").QueryRow(t.Context(), anyOrder, c.id).Scan(&order))
	_, err := copied.Exec(t.Context(), `SET session_replication_role = replica;
INSERT INTO orders SELECT * FROM jsonb_populate_record(NULL::orders, '`+order+`')`)
	require.NoError(t, err)
}

// requireRowsIn checks that rows of the tenant are in a cell and in no other one.
func (c *cellTenant) requireRowsIn(t *testing.T, cell string) {
	t.Helper()
	for database, table := range map[string]string{
		"orders": "orders", "links": "links", "events": "feed", "webhook": "deliveries",
	} {
		for _, letter := range []string{"a", "b"} {
			var rows int
			found := c.database(t, letter, database).QueryRow(t.Context(), "SELECT count(*) FROM "+table+" WHERE tenant_id = $1", c.id)
			require.NoError(t, found.Scan(&rows))
			require.Equal(t, letter == cell, rows > 0, "%s of cell %s has %d rows", table, letter, rows)
		}
	}
}

// testMove moves the tenant while it places orders. The first copy is spoilt, so that the tenant is not switched until it is copied
// again. What clients have kept goes on: references, versions, cursors, answers, links and webhooks.
func (c *cellTenant) testMove(t *testing.T) {
	box, link, repeated := c.receive(t), c.newLink(t), c.newCall(t)
	first := c.Do(t, repeated)
	orderPath := "/orders/" + first.OK(t)["id"].(string)
	before := c.Get(t, c.key, orderPath)
	_, cursor := c.Page(t, c.key, "/events?limit=1")
	events := len(c.Feed(t, c.key))

	cells := tenantsv1.NewCellOperationsServiceClient(c.Conn(t, "GIFTING_GRPC_TENANTS"))
	_, err := cells.MoveTenant(t.Context(), &tenantsv1.MoveTenantRequest{Actor: seed.Installer, TenantId: c.id, To: "a"})
	require.NoError(t, err)
	c.spoil(t)
	var during []map[string]any
	var found *tenantsv1.TenantMove
	problems := ""
	require.Eventually(t, func() bool {
		// Where the programs are slow, a gateway does not wait long enough for the new cell.
		if placed := c.tryPlace(t); placed.Status != http.StatusServiceUnavailable {
			during = append(during, placed.OK(t))
		}
		got, err := cells.GetTenantMove(t.Context(), &tenantsv1.GetTenantMoveRequest{Actor: seed.Installer, TenantId: c.id})
		found = got.GetMove()
		problems += found.GetProblem()
		return err == nil && found.GetStep() == tenantsv1.MoveStep_MOVE_STEP_DONE
	}, 4*time.Minute, time.Second/5)
	t.Logf("%s", found)
	require.Contains(t, problems, "orders.orders has")
	c.requireRowsIn(t, "a")

	after := c.Get(t, c.key, orderPath)
	require.Equal(t, before.Body, after.Body)
	require.Equal(t, before.Header.Get("ETag"), after.Header.Get("ETag"))
	requireReplayed(t, first, c.Do(t, repeated))
	order := c.place(t)
	require.True(t, strings.HasPrefix(order["reference"].(string), "GA-"), order["reference"])
	require.True(t, strings.HasPrefix(c.claim(t, link)["reference"].(string), "GA-"))
	reading := c.NewKey(t, c.id).GetApiKey() // The other one has nearly reached its limit.
	all := append(during, order)
	c.Await(t, reading, harness.Slow, order["id"].(string))
	text := ""
	for _, e := range c.Feed(t, reading) {
		text += e.Raw
	}
	for _, placed := range all {
		id, _ := placed["id"].(string)
		require.Contains(t, text, id)
		require.Equal(t, 1, requireDelivered(t, box, id))
	}
	require.Len(t, c.eventsAfter(t, reading, cursor), len(c.Feed(t, reading))-1)
	require.GreaterOrEqual(t, len(c.Feed(t, reading)), events+len(all))
}

// eventsAfter reads the feed from a cursor on.
func (c *cellTenant) eventsAfter(t *testing.T, key, cursor string) (ids []string) {
	t.Helper()
	for {
		page := c.Get(t, key, "/events?limit=100&after="+cursor).OK(t)
		items, _ := page["items"].([]any)
		for _, item := range items {
			id, _ := item.(map[string]any)["id"].(string)
			ids = append(ids, id)
		}
		if len(items) == 0 {
			return ids
		}
		cursor, _ = page["nextCursor"].(string)
	}
}
