package bench_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders"
)

const orderBody = `{"externalOrderId": %q, "brandId": %q,
  "items": [{"customProductName": "A football signed by the whole team", "budget": {"amount": 1500, "currency": "SEK"}}],
  "client": {"name": "Ann Berg"},
  "recipient": {"name": "Ann Berg", "phone": "+46 70 123 45 67",
    "address": {"street": "Storgatan 1", "city": "Stockholm", "postalCode": "111 22", "country": "SE"}}}`

// BenchmarkPlaceOrder places orders through the gateway and, in turn, lets pgbench run the same statements on the same
// server in another database of the same schema: once as the service sends them, in a pipeline, and once one by one.
//
// Each does it for a few clients, as many as the service keeps connections to its database, and for many. What either
// can do is its rate with the number that suits it better: a gateway's clients share its connections, and those of
// pgbench, with a connection each, only get into each other's way from some number on.
func BenchmarkPlaceOrder(b *testing.B) {
	p := startOrders(b)
	all := newEdgeClients(b, manyClients, p.env["GIFTING_URL"], p.keys)
	few, many := p.placing(b, clients), p.placing(b, manyClients)
	once(b, func() {
		for range rounds() {
			for _, with := range []*placing{few, many} {
				with.edge.take(b, strings.TrimSuffix(p.db.Config().Database, "orders"), func(i int) error {
					_, err := p.place(all[i])
					return err
				}, func() { p.drain(b) })
				with.plain.run(b)
				with.piped.run(b)
				b.Logf("%d clients: gateway %v, pgbench %v, in a pipeline %v", with.edge.clients, &with.edge, &with.plain.side, &with.piped.side)
			}
		}
	})
	p.requireSameRows(b, few.piped.url)
	edge, plain, piped := better(&few.edge, &many.edge), better(&few.plain.side, &many.plain.side), better(&few.piped.side, &many.piped.side)
	b.ReportMetric(median(edge.rates), "edge-orders/s")
	b.ReportMetric(float64(edge.clients), "edge-clients")
	b.ReportMetric(float64(plain.clients), "pgbench-clients")
	b.ReportMetric(median(ratios(edge.rates, plain.rates)), "edge/pgbench")
	b.ReportMetric(median(ratios(edge.rates, piped.rates)), "edge/pipeline")
	b.ReportMetric(median(ratios(plain.used, edge.used)), "edge/pgbench-by-cpu")
	b.ReportMetric(median(ratios(piped.used, edge.used)), "edge/pipeline-by-cpu")
	for _, with := range []*placing{few, many} {
		number := strconv.Itoa(with.edge.clients)
		b.ReportMetric(median(with.edge.rates), "edge-orders/s-of-"+number)
		b.ReportMetric(median(ratios(with.edge.rates, with.plain.rates)), "edge/pgbench-of-"+number)
		b.ReportMetric(median(ratios(with.plain.used, with.edge.used)), "edge/pgbench-by-cpu-of-"+number)
	}
}

// manyClients are four times as many as the service keeps connections to its database.
const manyClients = 64

// placing is what the sides do for a number of clients.
type placing struct {
	edge         side
	plain, piped *pgbench
}

func (p *ordering) placing(b *testing.B, number int) *placing {
	b.Helper()
	if p.script == nil {
		p.script = p.pgbench(b)
	}
	piped, plain := *p.script, *p.script
	piped.clients, plain.clients = number, number
	plain.script = statementByStatement(b, piped.script)
	// Of their own for each, as the orders' ids begin with them.
	piped.turns, plain.turns = number<<10, (number+1)<<10
	return &placing{edge: side{clients: number}, plain: &plain, piped: &piped}
}

// better is the one with the higher rate.
func better(a, b *side) *side {
	if median(a.rates) > median(b.rates) {
		return a
	}
	return b
}

// ordering is a platform with a tenant that orders, and the orders database.
type ordering struct {
	tenant
	env    map[string]string
	keys   *keyring
	db     *pgx.Conn
	placed ids
	// script is what pgbench runs for an order, once one has been placed.
	script *pgbench
}

func startOrders(b *testing.B) *ordering {
	b.Helper()
	db, env := start(b, "orders")
	operations := tenantsv1.NewTenantOperationsServiceClient(dial(b, env, "GIFTING_GRPC_TENANTS"))
	of := makeTenant(b, operations)
	return &ordering{tenant: of, env: env, keys: newKeyring(b, operations, of), db: db}
}

// place places an order of its own and gives the answer.
func (p *ordering) place(by *edgeClient) ([]byte, error) {
	name := "bench-" + strconv.FormatInt(p.placed.next(), 10)
	return by.post("/orders", name, fmt.Sprintf(orderBody, name, p.brand), http.StatusCreated)
}

// drain waits until all events are on their way, so that the next turn has the machine.
func (p *ordering) drain(b *testing.B) {
	b.Helper()
	awaitEmptyOutbox(b, p.db)
}

func awaitEmptyOutbox(b *testing.B, db *pgx.Conn) {
	b.Helper()
	require.Eventually(b, func() bool {
		left := true
		err := db.QueryRow(b.Context(), `SELECT EXISTS (SELECT FROM outbox)`).Scan(&left)
		return err == nil && !left
	}, time.Minute, 10*time.Millisecond)
}

// pgbench writes what the service wrote for one order: values of the same size.
func (p *ordering) pgbench(b *testing.B) *pgbench {
	b.Helper()
	program, err := findPgbench()
	require.NoError(b, err)
	answered, err := p.place(newEdgeClient(b, p.env["GIFTING_URL"], p.keys))
	require.NoError(b, err)
	var order struct{ ID, Reference string }
	require.NoError(b, json.Unmarshal(answered, &order))
	var details, fingerprint, answer []byte
	require.NoError(b, p.db.QueryRow(b.Context(), `SELECT details_sealed FROM orders WHERE id = $1`, order.ID).Scan(&details))
	require.NoError(b, p.db.QueryRow(b.Context(), `SELECT fingerprint, answer FROM idempotency_answers`).Scan(&fingerprint, &answer))
	return &pgbench{
		program: program, database: p.copyName(), url: p.copySchema(b), script: filepath.Join("testdata", "place_order.sql"),
		variables: map[string]string{
			"tenant": p.id, "brand": p.brand, "reference": strconv.Itoa(len(order.Reference)), "details": bytea(details),
			// The event is the order as it was answered.
			"event": bytea(answered), "fingerprint": bytea(fingerprint), "answer": bytea(answer),
			"traceparent": "00-" + strings.Repeat("1", 32) + "-" + strings.Repeat("2", 16) + "-00",
		},
	}
}

func bytea(raw []byte) string { return `\x` + hex.EncodeToString(raw) }

func (p *ordering) copyName() string { return "pgbench_" + p.db.Config().Database }

// copySchema makes a database beside that of the orders, empty and migrated as that is.
func (p *ordering) copySchema(b *testing.B) string {
	b.Helper()
	return makeDatabase(b, p.copyName(), func(url string) error {
		return orders.Migrate(b.Context(), orders.Config{Database: postgres.Config{URL: url}})
	})
}

// statementByStatement is the script without its pipeline.
func statementByStatement(b *testing.B, script string) string {
	b.Helper()
	text, err := os.ReadFile(script)
	require.NoError(b, err)
	plain := strings.NewReplacer("\\startpipeline\n", "", "\\endpipeline\n", "").Replace(string(text))
	path := filepath.Join(b.TempDir(), "plain.sql")
	require.NoError(b, os.WriteFile(path, []byte(plain), 0o600))
	return path
}

// filled tells which columns of the newest order and of its answer hold something, and how much the large ones hold.
const filled = `SELECT
  (SELECT string_agg(key, ' ' ORDER BY key) || length(o.details_sealed)
    FROM jsonb_each(to_jsonb(o)) WHERE value <> 'null' GROUP BY o.details_sealed)
  || (SELECT string_agg(key, ' ' ORDER BY key) FROM jsonb_each(to_jsonb(a)) WHERE value <> 'null')
FROM orders o JOIN idempotency_answers a ON a.idempotency_key = o.external_order_id
ORDER BY o.created_at DESC LIMIT 1`

// requireSameRows makes sure that both sides wrote the same.
func (p *ordering) requireSameRows(b *testing.B, other string) {
	b.Helper()
	var byService, byPgbench string
	require.NoError(b, p.db.QueryRow(b.Context(), filled).Scan(&byService))
	db, err := pgx.Connect(b.Context(), other)
	require.NoError(b, err)
	defer func() { _ = db.Close(b.Context()) }()
	require.NoError(b, db.QueryRow(b.Context(), filled).Scan(&byPgbench))
	require.Equal(b, byService, byPgbench)
}
