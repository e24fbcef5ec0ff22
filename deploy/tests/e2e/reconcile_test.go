package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local/seed"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/settings"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders"
)

// found counts differences by kind.
type found map[string]int

// TestReconcile sets one database after the other back to an earlier time, finds the differences with the command of the
// runbook, and repairs them.
func TestReconcile(t *testing.T) {
	t.Parallel()
	s := reconciled{stack: stack{harness.Start(t)}}
	s.key = s.DemoKey(t)
	require.Empty(t, s.reconcile(t), "a platform that was never set back has no differences")

	s.campaign = s.newCampaign(t)
	t.Run("while the platform is used", s.testInUse)
	s.cancelled, s.dispatched = s.place(t, s.campaign), s.place(t, "")
	s.link = s.newLink(t)
	s.await(t, s.cancelled, s.dispatched, s.link["id"].(string))
	s.awaitConfirmed(t)
	s.backUp(t, "orders", "links", "catalog")
	s.placed = s.place(t, s.campaign)
	s.OK(t, s.cancelled, ":cancel")
	s.dispatch(t, s.dispatched)
	s.claimed = s.claim(t)
	s.await(t, s.placed, s.claimed, `"CANCELLED"`, `"SENT"`)
	s.awaitConfirmed(t)
	require.Empty(t, s.reconcile(t))

	t.Run("links set back", s.testLinksSetBack)
	t.Run("catalog set back", s.testCatalogSetBack)
	t.Run("an event that the feed has lost", s.testLostEvent)
	t.Run("orders set back", s.testOrdersSetBack)
	t.Run("the commands of the runbook", s.testRunbook)
}

// command is a call of the command in a runbook.
var command = regexp.MustCompile(`(?m)^ *program orders reconcile(.*)$`)

func (s reconciled) testRunbook(t *testing.T) {
	text, err := os.ReadFile("../../runbooks/restore.md")
	require.NoError(t, err)
	found := command.FindAllStringSubmatch(string(text), -1)
	require.Len(t, found, 4)
	for _, call := range found {
		var out, log bytes.Buffer
		var left orders.DifferencesError
		require.ErrorAs(t, orders.Reconcile(t.Context(), s.config(t), strings.Fields(call[1]), &out, &log), &left)
		require.Contains(t, out.String(), "events_without_order", "the differences of lost orders stay")
		require.NotContains(t, out.String(), "%!")
	}
	var out bytes.Buffer
	_ = orders.Reconcile(t.Context(), s.config(t), nil, &out, io.Discard)
	for _, difference := range regexp.MustCompile("(?m)^ *\\| `([a-z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		require.Contains(t, out.String(), difference[1]+" ", "the table lists every kind")
	}
}

// reconciled is a platform with a backup, and what changed after it.
type reconciled struct {
	stack

	key, campaign string
	link          map[string]any
	// Orders by what happened to them after the backup.
	cancelled, dispatched, placed, claimed string
}

func (s reconciled) config(t *testing.T) (cfg orders.Config) {
	t.Helper()
	env := s.Programs[identity.Orders]
	require.NoError(t, settings.LoadFrom(&cfg, func(variable string) string { return env[variable] }))
	return cfg
}

// reconcile runs the command and returns the differences that are left.
func (s reconciled) reconcile(t *testing.T, flags ...string) found {
	t.Helper()
	var out, log bytes.Buffer
	err := orders.Reconcile(t.Context(), s.config(t), append(flags, "--json", "--pages-per-second=1000"), &out, &log)
	if left := orders.DifferencesError(0); errors.As(err, &left) {
		require.Equal(t, 3, daemon.ExitCoder(left).ExitCode())
	} else {
		require.NoError(t, err)
	}
	harness.RequireNoPersonalData(t, out.String()+log.String())
	var report struct {
		Differences []struct {
			Kind     string
			Repaired bool
		}
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &report))
	left := found{}
	for _, d := range report.Differences {
		if !d.Repaired {
			left[d.Kind]++
		}
	}
	t.Logf("reconcile %v: %s", flags, out.String())
	return left
}

// testInUse repairs again and again while orders are placed, changed and cancelled and links are claimed. Nothing differs, so any
// repair would be wrong.
func (s reconciled) testInUse(t *testing.T) {
	cfg, done := s.config(t), make(chan struct{})
	var runs errgroup.Group
	runs.Go(func() error {
		for {
			var out bytes.Buffer
			if err := orders.Reconcile(t.Context(), cfg, []string{"--repair", "--pages-per-second=1000"}, &out, &out); err != nil {
				return fmt.Errorf("%w: %s", err, out.String())
			}
			if strings.Contains(out.String(), "reconciled a difference") {
				return fmt.Errorf("%w: %s", errRepaired, out.String())
			}
			select {
			case <-done:
				return nil
			default:
			}
		}
	})
	for range 15 {
		id := s.place(t, s.campaign)
		s.dispatch(t, s.place(t, ""))
		s.link = s.newLink(t)
		require.NotEmpty(t, s.claim(t))
		s.OK(t, id, ":cancel")
	}
	close(done)
	require.NoError(t, runs.Wait())
}

var errRepaired = errors.New("repaired what was right")

func (s reconciled) testLinksSetBack(t *testing.T) {
	s.setBack(t, "links")
	require.Equal(t, "ACTIVE", s.readLink(t)["status"], "the link has lost its claim")
	require.Equal(t, found{"link_not_claimed": 1}, s.reconcile(t))
	t.Run("a second claim of the player gets the first order", func(t *testing.T) {
		stock := s.stock(t)
		require.Equal(t, s.claimed, s.claim(t))
		require.Equal(t, stock, s.stock(t))
		require.Empty(t, s.reconcile(t))
		s.requireOneOrder(t)
	})
	t.Run("and so does reconcile", func(t *testing.T) {
		s.setBack(t, "links")
		for range 2 {
			require.Empty(t, s.reconcile(t, "--repair"))
		}
		link := s.readLink(t)
		require.Equal(t, "CLAIMED", link["status"])
		require.Equal(t, s.claimed, link["orderId"])
		s.await(t, link["updatedAt"].(string))
		s.requireOneOrder(t)
	})
}

// requireOneOrder checks that the link has one order, and that the feed reported its creation once.
func (s reconciled) requireOneOrder(t *testing.T) {
	t.Helper()
	var placed []string
	for _, order := range s.All(t, s.key, "/orders?limit=100") {
		if order["personalLinkId"] == s.link["id"] {
			placed = append(placed, order["id"].(string))
		}
	}
	require.Equal(t, []string{s.claimed}, placed)
	created := 0
	for _, e := range s.Feed(t, s.key) {
		if e.Type == "order.created" && e.Record(t)["personalLinkId"] == s.link["id"] {
			created++
		}
	}
	require.Equal(t, 1, created)
}

func (s reconciled) testCatalogSetBack(t *testing.T) {
	stock := s.stock(t)
	s.setBack(t, "catalog")
	require.Equal(t, found{"stock_not_held": 1, "stock_held_without_order": 1}, s.reconcile(t))
	for range 2 {
		require.Empty(t, s.reconcile(t, "--repair"))
	}
	require.Equal(t, stock, s.stock(t))
	t.Run("and no unit is left for an order", func(t *testing.T) {
		s.exec(t, "catalog", "DELETE FROM reservations; UPDATE skus SET stock = 0")
		require.Equal(t, found{"stock_not_held": 1}, s.reconcile(t, "--repair"))
		s.exec(t, "catalog", "UPDATE skus SET stock = 1")
		require.Empty(t, s.reconcile(t, "--repair"))
		require.Equal(t, "0", s.stock(t))
	})
}

func (s reconciled) testLostEvent(t *testing.T) {
	s.exec(t, "events", fmt.Sprintf("DELETE FROM feed WHERE subject_id = '%s' AND type = 'order.status_changed'", s.dispatched))
	require.Equal(t, found{"last_event_missing": 1}, s.reconcile(t))
	require.Empty(t, s.reconcile(t, "--repair"))
	event := s.Await(t, s.key, harness.Slow, s.dispatched, `"order.status_changed"`, `"SENT"`)
	order := s.Get(t, s.key, "/orders/"+s.dispatched)
	require.JSONEq(t, `{"order": `+order.Body+`, "previousStatus": "PROCESSING"}`, string(event.Data))
	require.Empty(t, s.reconcile(t, "--repair"))
}

func (s reconciled) testOrdersSetBack(t *testing.T) {
	before := s.stock(t)
	s.setBack(t, "orders")
	lost := found{"link_without_order": 1, "events_without_order": 2, "order_older_than_its_event": 2}
	both := found{"stock_held_without_order": 1, "stock_not_held": 1}
	for kind, n := range lost {
		both[kind] = n
	}
	require.Equal(t, both, s.reconcile(t))
	for range 2 {
		require.Equal(t, lost, s.reconcile(t, "--repair"), "a person decides about the rest")
	}
	require.Equal(t, before, s.stock(t), "one unit was released, and one was taken again")
	t.Run("which it repairs through the operations plane", func(t *testing.T) {
		s.OK(t, s.cancelled, ":cancel")
		s.dispatch(t, s.dispatched)
		require.Equal(t, found{"link_without_order": 1, "events_without_order": 2}, s.reconcile(t))
	})
}

// newCampaign makes a campaign with units of the demo's gift.
func (s reconciled) newCampaign(t *testing.T) string {
	t.Helper()
	id := uuid.NewString()
	_, err := s.Catalog(t).PutCampaign(t.Context(), &catalogv1.PutCampaignRequest{
		Id: id, TenantId: seed.Direct, BrandId: s.Env["GIFTING_BRAND_ID"], Name: "Reconciled",
		Status: catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE,
		Offerings: []*catalogv1.OfferingInput{{
			ProductId: s.Env["GIFTING_PRODUCT_ID"], SupplyType: catalogv1.SupplyType_SUPPLY_TYPE_STOCKED,
			Skus: []*catalogv1.SkuInput{{InitialStock: proto.Int32(100)}},
		}},
	})
	require.NoError(t, err)
	return id
}

// place places an order, of a campaign with stock unless that is empty.
func (s reconciled) place(t *testing.T, campaign string) string {
	t.Helper()
	id, _ := s.Post(t, s.key, "/orders", s.Order(t, func(order map[string]any) {
		if campaign == "" {
			return
		}
		delete(order, "brandId")
		order["campaignId"] = campaign
	})).OK(t)["id"].(string)
	return id
}

// OK posts an action of an order.
func (s reconciled) OK(t *testing.T, order, action string) {
	t.Helper()
	s.Post(t, s.key, "/orders/"+order+action, `{"reason": "Reconciled."}`).OK(t)
}

func (s reconciled) dispatch(t *testing.T, order string) {
	t.Helper()
	_, err := s.Orders(t).DispatchOrder(t.Context(), &ordersv1.DispatchOrderRequest{
		Actor:    &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Bea"},
		TenantId: seed.Direct, OrderId: order,
		Shipment: &ordersv1.Shipment{Carrier: "Post", TrackingReference: "T-1", TrackingUrl: "https://carrier.example/T-1"},
	})
	require.NoError(t, err)
}

func (s reconciled) newLink(t *testing.T) map[string]any {
	t.Helper()
	batch := s.Post(t, s.key, "/personal-links:create-batch", s.Batch(t)).OK(t)
	link, _ := batch["results"].([]any)[0].(map[string]any)["link"].(map[string]any)
	return link
}

func (s reconciled) readLink(t *testing.T) map[string]any {
	t.Helper()
	return s.Get(t, s.key, "/personal-links/"+s.link["id"].(string)).OK(t)
}

// claim claims the link as its player and returns the link's order.
func (s reconciled) claim(t *testing.T) string {
	t.Helper()
	address, _ := s.link["claimUrl"].(string)
	require.NotEmpty(t, s.claimOnSite(t, address))
	require.Contains(t, harness.Visit(t, address).Body, "This gift has already been chosen")
	order, _ := s.readLink(t)["orderId"].(string)
	return order
}

// awaitConfirmed waits until every reservation is of an order that exists.
func (s reconciled) awaitConfirmed(t *testing.T) {
	t.Helper()
	s.exec(t, "catalog", "UPDATE reservations SET expires_at = now() WHERE state = 'RESERVED'")
	conn := s.connect(t, "catalog")
	require.Eventually(t, func() bool {
		var n int
		err := conn.QueryRow(t.Context(), "SELECT count(*) FROM reservations WHERE state = 'RESERVED'").Scan(&n)
		return err == nil && n == 0
	}, harness.Slow, 100*time.Millisecond)
}

// stock is what the campaign has left.
func (s reconciled) stock(t *testing.T) string {
	t.Helper()
	var stock string
	require.NoError(t, s.connect(t, "catalog").QueryRow(t.Context(),
		"SELECT string_agg(stock::text, ' ') FROM skus WHERE campaign_id = $1", s.campaign).Scan(&stock))
	return stock
}

// await waits until the feed has each text.
func (s reconciled) await(t *testing.T, texts ...string) {
	t.Helper()
	for _, text := range texts {
		s.Await(t, s.key, harness.Slow, text)
	}
}

func (s reconciled) exec(t *testing.T, database, sql string) {
	t.Helper()
	_, err := s.connect(t, database).Exec(t.Context(), sql)
	require.NoError(t, err)
}

const listTables = `SELECT tablename FROM pg_tables
WHERE schemaname = 'public' AND tablename NOT LIKE 'migrations_%' ORDER BY tablename`

// backUp copies the tables of databases.
func (s reconciled) backUp(t *testing.T, databases ...string) {
	t.Helper()
	for _, database := range databases {
		s.eachTable(t, database, "CREATE SCHEMA backup",
			func(table string) string { return "CREATE TABLE backup." + table + " AS TABLE public." + table })
	}
}

// setBack replaces the content of a database by the backup, as a restore would.
func (s reconciled) setBack(t *testing.T, database string) {
	t.Helper()
	// Without triggers: audits are append-only, and tables refer to each other.
	s.eachTable(t, database, "SET LOCAL session_replication_role = replica", func(table string) string {
		return "DELETE FROM public." + table + "; INSERT INTO public." + table + " OVERRIDING SYSTEM VALUE TABLE backup." + table
	})
}

func (s reconciled) eachTable(t *testing.T, database, first string, statement func(table string) string) {
	t.Helper()
	conn := s.connect(t, database)
	rows, err := conn.Query(t.Context(), listTables)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.NoError(t, pgx.BeginFunc(t.Context(), conn, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(), first)
		for _, table := range tables {
			if err == nil {
				_, err = tx.Exec(t.Context(), statement(table))
			}
		}
		return err
	}))
}
