//go:build faults

package faults_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/deploy/local"
	"github.com/partnergifting/platform/deploy/tests/conformance/harness"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/identity"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	// ordersVariable is how many orders the tenant has that moves.
	ordersVariable = "GIFTING_TEST_ORDERS"

	perSecond = 20
	// keysOfLoad share the rate, so that none reaches its limit.
	keysOfLoad = 8
	// callers place orders at the same time.
	callers = 32
)

// onDisk makes PostgreSQL write as in production.
var onDisk = []string{"fsync=on", "full_page_writes=on"}

// TestCellsMoveALargeTenant moves a tenant with many orders to another cell and back, while it and another tenant place orders at a
// fixed rate. No order of the other one fails, and none of the tenant but with 503. It prints the pauses, and what the other tenant
// saw of them.
func TestCellsMoveALargeTenant(t *testing.T) {
	const quiet = 40 * time.Second
	d := newDeployment(t, options{
		binaries: buildPrograms(t, "", nil), direct: true, logs: newReport(t, 0).dir, cells: []string{"b"}, settings: onDisk,
	})
	moving, other := newCellTenant(t, d, "a"), newCellTenant(t, d, "a")
	d.awaitGifts(t.Context(), t, moving.id)
	moving.receive(t)
	began, total := time.Now(), setting(t, ordersVariable, 100_000)
	placed := moving.placeMany(t, d.dial(t, identity.Orders, 0), callers, func(n int64) bool { return n <= total })
	d.awaitSent(t, "a")
	t.Logf("%d orders placed and sent in %s", placed, time.Since(began).Round(time.Second))

	ctx, stop := context.WithCancel(t.Context())
	ofMoving, ofOther := moving.newLoad(t), other.newLoad(t)
	var running sync.WaitGroup
	running.Go(func() { ofMoving.run(ctx) })
	running.Go(func() { ofOther.run(ctx) })
	sleep(ctx, quiet)
	from := time.Now()
	for _, to := range []string{"b", "a"} {
		t.Logf("%s", d.move(ctx, t, moving.id, to))
	}
	end := time.Now()
	sleep(ctx, quiet)
	stop()
	running.Wait()
	during := func(l *load) (in, out []time.Duration) {
		for due, took := range l.took {
			if due.Before(from) || due.After(end) {
				out = append(out, took)
			} else {
				in = append(in, took)
			}
		}
		return sorted(in), sorted(out)
	}
	in, out := during(ofMoving)
	t.Logf("the tenant: %d orders during both moves, the slowest %s; %d before and after, the slowest %s",
		len(in), in[len(in)-1], len(out), out[len(out)-1])
	in, out = during(ofOther)
	t.Logf("the other tenant: %d orders during both moves, p50 %s, p99 %s; %d before and after, p50 %s, p99 %s",
		len(in), quantile(in, .5), quantile(in, .99), len(out), quantile(out, .5), quantile(out, .99))
	require.Empty(t, ofOther.failures)
	for _, failure := range ofMoving.failures {
		require.Contains(t, failure, "service_unavailable")
	}
	t.Logf("%d orders of the tenant were answered with 503", len(ofMoving.failures))
}

// TestCellsCarryWhatOneDoes places orders of two tenants as fast as they are accepted and reach the feed, in turn for two tenants
// of one cell and for one tenant of each. It prints the rates.
func TestCellsCarryWhatOneDoes(t *testing.T) {
	const rounds, roundTime = 7, 5 * time.Second
	d := newDeployment(t, options{
		binaries: buildPrograms(t, "", nil), direct: true, logs: newReport(t, 0).dir, cells: []string{"b"}, settings: onDisk,
	})
	first, second, apart := newCellTenant(t, d, "a"), newCellTenant(t, d, "a"), newCellTenant(t, d, "b")
	conns := map[*cellTenant]grpc.ClientConnInterface{
		first: d.dial(t, identity.Orders, 0), second: d.dial(t, identity.Orders, 1), apart: d.dialCell(t, "b", identity.Orders, 0),
	}
	rates := map[*cellTenant][]float64{}
	for range rounds {
		for _, with := range []*cellTenant{second, apart} {
			var sum atomic.Int64
			var group sync.WaitGroup
			began := time.Now()
			for _, of := range []*cellTenant{first, with} {
				group.Go(func() {
					sum.Add(of.placeMany(t, conns[of], callers/2, func(int64) bool { return time.Since(began) < roundTime }))
				})
			}
			group.Wait()
			d.awaitSent(t, "a")
			d.awaitSent(t, "b")
			rates[with] = append(rates[with], float64(sum.Load())/time.Since(began).Seconds())
		}
	}
	var ratios []float64
	for i := range rounds {
		ratios = append(ratios, rates[apart][i]/rates[second][i])
	}
	slices.Sort(ratios)
	t.Logf("orders per second, in one cell %.0f, in two %.0f; two of one, median: %.2f", rates[second], rates[apart], ratios[rounds/2])
}

// cellTenant is a tenant of a cell, with a brand.
type cellTenant struct {
	deployment         *deployment
	id, brand, product string
}

func newCellTenant(t *testing.T, d *deployment, cell string) *cellTenant {
	t.Helper()
	c := &cellTenant{deployment: d, id: uuid.NewString(), brand: uuid.NewString(), product: d.env["GIFTING_PRODUCT_ID"]}
	harness.New(t, local.Config{}, d.env).PutTenant(t, c.id, c.brand, cell)
	return c
}

func (c *cellTenant) newKey(t *testing.T) reader {
	t.Helper()
	return c.deployment.newReader(t, "a key", c.id, "", allScopes...)
}

// receive makes a key of the tenant receive webhooks.
func (c *cellTenant) receive(t *testing.T) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(server.Close)
	c.deployment.setWebhook(t, c.newKey(t), server.URL)
}

// placeMany places orders at the orders service, as many callers at a time, as long as it may place another one.
func (c *cellTenant) placeMany(
	t *testing.T, conn grpc.ClientConnInterface, callers int, another func(n int64) bool,
) (placed int64) {
	t.Helper()
	orders, key := ordersv1.NewOrdersServiceClient(conn), c.newKey(t).keyID
	var n atomic.Int64
	var group errgroup.Group
	for range callers {
		group.Go(func() error {
			for another(n.Add(1)) {
				ctx, err := caller.Outgoing(t.Context(), caller.Principal{
					TenantID: c.id, KeyID: key, KeyName: "load", Scopes: []commonv1.Scope{commonv1.Scope_SCOPE_ORDERS}, AllBrands: true,
				}, caller.Request{IdempotencyKey: uuid.NewString(), Fingerprint: []byte("load")})
				if err == nil {
					_, err = orders.PlaceOrder(ctx, c.order())
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	return n.Load() - int64(callers) // Each caller has asked once more than it placed.
}

func (c *cellTenant) order() *ordersv1.PlaceOrderRequest {
	return &ordersv1.PlaceOrderRequest{
		ExternalOrderId: uuid.NewString(), BrandId: proto.String(c.brand),
		Items:  []*ordersv1.OrderItemInput{{ProductId: proto.String(c.product)}},
		Client: &ordersv1.OrderClient{Name: harness.MarkedName},
		Recipient: &ordersv1.OrderRecipient{
			Name: harness.MarkedName, Phone: harness.MarkedPhone,
			Address: &ordersv1.OrderAddress{
				Street: harness.MarkedStreet, City: "Visby", PostalCode: proto.String("621 57"), Country: "SE",
			},
		},
	}
}

// awaitSent waits until the changes of a cell are in the feed and all webhooks are sent.
func (d *deployment) awaitSent(t *testing.T, cell string) {
	t.Helper()
	for database, waiting := range map[string]string{
		"orders":  `SELECT EXISTS (SELECT FROM outbox WHERE confirmed_at IS NULL)`,
		"webhook": `SELECT EXISTS (SELECT FROM deliveries WHERE state = 'PENDING')`,
	} {
		conn := d.connect(t, inCell(cell, database))
		require.Eventually(t, func() bool {
			var left bool
			err := conn.QueryRow(t.Context(), waiting).Scan(&left)
			return err == nil && !left
		}, 10*time.Minute, 50*time.Millisecond)
		require.NoError(t, conn.Close(t.Context()))
	}
}

// load places orders of a tenant at the gateways, each at its time.
type load struct {
	tenant  *cellTenant
	clients []*client

	lock sync.Mutex
	// took is how long an order took that was due at a time.
	took     map[time.Time]time.Duration
	failures []string
}

func (c *cellTenant) newLoad(t *testing.T) *load {
	t.Helper()
	l := &load{tenant: c, took: map[time.Time]time.Duration{}}
	shared := c.deployment.newClient(t, newResults())
	for range keysOfLoad {
		l.clients = append(l.clients, shared.with(c.newKey(t).key))
	}
	return l
}

// run places orders until ctx ends.
func (l *load) run(ctx context.Context) {
	var group sync.WaitGroup
	due := time.Now()
	for i := 0; ctx.Err() == nil; i++ {
		at := due
		group.Go(func() { l.place(context.WithoutCancel(ctx), l.clients[i%keysOfLoad], at) })
		due = due.Add(time.Second / perSecond)
		sleep(ctx, time.Until(due))
	}
	group.Wait()
}

func (l *load) place(ctx context.Context, by *client, due time.Time) {
	a, err := by.sendOnce(ctx, call{
		method: http.MethodPost, path: "/orders", idempotencyKey: uuid.NewString(),
		body: toJSON(orderBody(l.tenant.product, l.tenant.brand)),
	})
	l.lock.Lock()
	defer l.lock.Unlock()
	l.took[due] = time.Since(due)
	if err != nil || a.status != http.StatusCreated {
		l.failures = append(l.failures, outcome(a, err)+" "+a.body)
	}
}

func sorted(all []time.Duration) []time.Duration {
	slices.Sort(all)
	return all
}

func quantile(of []time.Duration, q float64) time.Duration { return of[int(q*float64(len(of)-1))] }
