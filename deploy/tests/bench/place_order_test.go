package bench_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/orders"
)

// BenchmarkPlaceOrder places orders through the gateway, deployed and in one process. Then pgbench runs the same statements
// with the same number of clients on the same server, in another database with the same schema: once in a pipeline, as the
// service sends them, and once one by one.
func BenchmarkPlaceOrder(b *testing.B) {
	b.Run("deployed", func(b *testing.B) {
		requireDeployed(b)
		placeOrders(b, deployOrders(b, nil))
	})
	b.Run("one-process", func(b *testing.B) { placeOrders(b, newOrdersFixture(b)) })
}

func placeOrders(b *testing.B, f *ordersFixture) {
	b.Helper()
	all, meter := f.clients(b, manyClients), f.NewMeter(b)
	script := f.pgbench(b)
	comparisons := []*comparison{script.comparison(b, clients), script.comparison(b, manyClients)}
	fixture.Once(b, func() {
		for range iterations() {
			for _, c := range comparisons {
				c.edge.measure(b, meter, func(i int) error { return f.send(all[i]) }, func() { f.drain(b) })
				c.plain.run(b)
				c.pipeline.run(b)
				b.Logf("%d clients: gateway %v, pgbench %v, in a pipeline %v", c.edge.clients, &c.edge, &c.plain.side, &c.pipeline.side)
			}
		}
	})
	f.requireSameRows(b, script.url)
	for _, c := range comparisons {
		of := "-of-" + strconv.Itoa(c.edge.clients)
		b.ReportMetric(fixture.Median(c.edge.rates), "edge-orders/s"+of)
		b.ReportMetric(fixture.MedianRatio(c.edge.rates, c.plain.rates), "edge/pgbench"+of)
		b.ReportMetric(fixture.MedianRatio(c.edge.rates, c.pipeline.rates), "edge/pipeline"+of)
		c.edge.used.Report(b, c.edge.requests, time.Millisecond, "cpu-ms"+of)
	}
	b.ReportMetric(fixture.Load(b), "load")
}

// manyClients are four times as many as the service has connections to its database.
const manyClients = 64

// comparison has the three sides with one number of clients.
type comparison struct {
	edge            side
	plain, pipeline *pgbench
}

func (p pgbench) comparison(b *testing.B, number int) *comparison {
	b.Helper()
	pipeline, plain := p, p
	pipeline.clients, plain.clients = number, number
	plain.script = withoutPipeline(b, p.script)
	// Ids of orders begin with the iteration, so each has its own.
	pipeline.iteration, plain.iteration = number<<10, (number+1)<<10
	return &comparison{edge: side{clients: number}, plain: &plain, pipeline: &pipeline}
}

// ordersFixture is a platform with a tenant that orders, and the orders database.
type ordersFixture struct {
	*fixture.Platform

	tenant fixture.Tenant
	keys   *fixture.Keyring
	db     *pgx.Conn
	placed atomic.Int64
}

// newOrdersFixture has all programs in one process, and an embedded broker.
func newOrdersFixture(b *testing.B) *ordersFixture {
	b.Helper()
	f := &ordersFixture{Platform: fixture.Start(b)}
	f.use(b, f.NewTenant(b))
	return f
}

// deployOrders has the programs in processes of their own, unless the run is quick. prepare is as that of fixture.Deploy.
func deployOrders(b *testing.B, prepare func(p *fixture.Platform)) *ordersFixture {
	b.Helper()
	f := &ordersFixture{}
	f.Platform = fixture.Deploy(b, func(p *fixture.Platform) {
		f.Platform = p
		f.use(b, p.NewTenant(b))
		if prepare != nil {
			prepare(p)
		}
	})
	return f
}

func (f *ordersFixture) use(b *testing.B, tenant fixture.Tenant) {
	b.Helper()
	f.tenant, f.keys, f.db = tenant, fixture.NewKeyring(b, tenant, keysAhead), f.Connect(b, "orders")
}

// keysAhead are made before anything is measured.
const keysAhead = 300

func (f *ordersFixture) clients(b *testing.B, number int) []*fixture.Client {
	b.Helper()
	all := make([]*fixture.Client, number)
	for i := range all {
		all[i] = f.NewClient(b, f.keys)
	}
	return all
}

// place places another order and returns it and the answer.
func (f *ordersFixture) place(c *fixture.Client) (fixture.Order, []byte, error) {
	return c.Place(f.tenant, "bench-"+strconv.FormatInt(f.placed.Add(1), 10))
}

func (f *ordersFixture) send(c *fixture.Client) error {
	_, _, err := f.place(c)
	return err
}

// drain waits until all events are published, so that the next iteration does not pay for this one.
func (f *ordersFixture) drain(b *testing.B) {
	b.Helper()
	fixture.AwaitEmptyOutbox(b, f.db)
}

// pgbench writes the same rows as the service for one order, with values of the same size.
func (f *ordersFixture) pgbench(b *testing.B) pgbench {
	b.Helper()
	program, err := findPgbench()
	require.NoError(b, err)
	order, answer, err := f.place(f.clients(b, 1)[0])
	require.NoError(b, err)
	var details, fingerprint, stored []byte
	require.NoError(b, f.db.QueryRow(b.Context(), `SELECT details_sealed FROM orders WHERE id = $1`, order.ID).Scan(&details))
	require.NoError(b, f.db.QueryRow(b.Context(), `SELECT fingerprint, answer FROM idempotency_answers`).Scan(&fingerprint, &stored))
	database := "pgbench_" + f.Database("orders")
	url := fixture.CreateDatabase(b, database, func(url string) error {
		return orders.Program().Migrate(b.Context(), orders.Config{Database: postgres.Config{URL: url}}, io.Discard)
	})
	return pgbench{
		program: program, url: url, script: filepath.Join("testdata", "place_order.sql"),
		variables: map[string]string{
			"tenant": f.tenant.ID, "brand": f.tenant.Brand, "reference": strconv.Itoa(len(order.Reference)), "details": bytea(details),
			// The event holds the order of the response.
			"event": bytea(answer), "fingerprint": bytea(fingerprint), "answer": bytea(stored),
			"traceparent": "00-" + strings.Repeat("1", 32) + "-" + strings.Repeat("2", 16) + "-00",
		},
	}
}

func bytea(raw []byte) string { return `\x` + hex.EncodeToString(raw) }

// withoutPipeline is the script that sends one statement at a time.
func withoutPipeline(b *testing.B, script string) string {
	b.Helper()
	text, err := os.ReadFile(script)
	require.NoError(b, err)
	plain := strings.NewReplacer("\\startpipeline\n", "", "\\endpipeline\n", "").Replace(string(text))
	path := filepath.Join(b.TempDir(), "plain.sql")
	require.NoError(b, os.WriteFile(path, []byte(plain), 0o600))
	return path
}

// filled lists the columns of the newest order and of its answer that are not null, and the length of the large one.
const filled = `SELECT
  (SELECT string_agg(key, ' ' ORDER BY key) || length(o.details_sealed)
    FROM jsonb_each(to_jsonb(o)) WHERE value <> 'null' GROUP BY o.details_sealed)
  || (SELECT string_agg(key, ' ' ORDER BY key) FROM jsonb_each(to_jsonb(a)) WHERE value <> 'null')
FROM orders o JOIN idempotency_answers a ON a.idempotency_key = o.external_order_id
ORDER BY o.created_at DESC LIMIT 1`

// requireSameRows checks that both sides wrote the same rows.
func (f *ordersFixture) requireSameRows(b *testing.B, other string) {
	b.Helper()
	var byService, byPgbench string
	require.NoError(b, f.db.QueryRow(b.Context(), filled).Scan(&byService))
	require.NoError(b, fixture.Connect(b, other).QueryRow(b.Context(), filled).Scan(&byPgbench))
	require.Equal(b, byService, byPgbench)
}

var (
	errNoPgbench = errors.New("no pgbench: it comes with the server, on Debian with postgresql or postgresql-contrib")
	tps          = regexp.MustCompile(`(?m)^tps = ([0-9.]+)`)
	failures     = regexp.MustCompile(`(?m)^number of failed transactions: ([0-9]+)`)
)

// pgbench runs a script against a database. Its clients have a connection each.
type pgbench struct {
	program, url, script string
	variables            map[string]string
	iteration            int

	side
}

// findPgbench looks on the path and in the folders of distributions, the newest version first.
func findPgbench() (string, error) {
	if path, err := exec.LookPath("pgbench"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil && filepath.Base(path) == "pgbench" {
			return path, nil // Debian's link leads to a wrapper, which may find no version.
		}
	}
	best, version := "", -1
	packaged, _ := filepath.Glob("/usr/lib/postgresql/*/bin/pgbench") // the pattern is well formed
	for _, path := range packaged {
		if n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))); n > version {
			best, version = path, n
		}
	}
	if best == "" {
		return "", errNoPgbench
	}
	return best, nil
}

// run runs the script for an iteration. The rate does not include the time to connect.
func (p *pgbench) run(b *testing.B) {
	b.Helper()
	args := []string{
		"--no-vacuum", "--protocol=prepared", "--client=" + strconv.Itoa(p.clients), "--jobs=" + strconv.Itoa(runtime.NumCPU()),
		"--time=" + strconv.Itoa(int(iterationTime.Seconds())), "--file=" + p.script,
		"--define=clients=" + strconv.Itoa(p.clients), fmt.Sprintf("--define=iteration=%d", p.iteration), "--define=n=0",
	}
	for name, value := range p.variables {
		args = append(args, "--define="+name+"="+value)
	}
	p.iteration++
	cmd := exec.CommandContext(b.Context(), p.program, append(args, p.url)...)
	var output bytes.Buffer
	cmd.Stderr, cmd.Env = &output, append(os.Environ(), "LC_ALL=C")
	out, err := cmd.Output()
	require.NoError(b, err, output.String())
	if failed := failures.FindSubmatch(out); failed != nil {
		require.Equal(b, "0", string(failed[1]), string(out))
	}
	p.rates = append(p.rates, number(b, tps, out))
}

// number finds a number in pgbench's report.
func number(b *testing.B, pattern *regexp.Regexp, report []byte) float64 {
	b.Helper()
	found := pattern.FindSubmatch(report)
	require.NotNil(b, found, string(report))
	n, err := strconv.ParseFloat(string(found[1]), 64)
	require.NoError(b, err)
	return n
}
