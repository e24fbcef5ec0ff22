package bench_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/tests/bench/fixture"
)

const (
	// acceptingTenants have an endpoint each, and keys that place orders. With several, the rate limit of a key is far.
	acceptingTenants = 100
	placingKeys      = 3
)

// BenchmarkAcceptedToReceiver measures how long an order that is placed through the gateway takes to the receiver of its tenant.
func BenchmarkAcceptedToReceiver(b *testing.B) {
	r := fixture.NewReceiver(b)
	f := &acceptedFixture{receiver: r}
	f.Platform = fixture.Deploy(b, func(p *fixture.Platform) {
		for _, url := range r.URLs(acceptingTenants) {
			f.add(b, p.NewTenant(b), url)
		}
	})
	for _, perSecond := range fixture.Rates() {
		b.Run(fmt.Sprintf("rate=%d", perSecond), func(b *testing.B) { f.measure(b, perSecond) })
	}
}

type acceptedFixture struct {
	*fixture.Platform

	receiver *fixture.Receiver
	tenants  []acceptingTenant
}

type acceptingTenant struct {
	fixture.Tenant

	keys []string
}

func (f *acceptedFixture) add(b *testing.B, tenant fixture.Tenant, url string) {
	b.Helper()
	of := acceptingTenant{Tenant: tenant}
	_, err := tenant.NewKey(b.Context(), url)
	require.NoError(b, err)
	for range placingKeys {
		key, err := tenant.NewKey(b.Context(), "")
		require.NoError(b, err)
		of.keys = append(of.keys, key.GetApiKey())
	}
	f.tenants = append(f.tenants, of)
}

// way is when each order was at each place, by its id.
type way struct {
	lock sync.Mutex

	// due is when the request should have been sent, answered when the client had the response, recorded just before the commit.
	due, requested, answered, recorded, received map[string]time.Time
}

func (f *acceptedFixture) measure(b *testing.B, perSecond int) {
	b.Helper()
	f.receiver.Empty(b)
	w := &way{due: map[string]time.Time{}, requested: map[string]time.Time{}, answered: map[string]time.Time{}}
	meter := f.NewMeter(b)
	var used fixture.Usage
	var counted fixture.Counters
	var late time.Duration
	fixture.Once(b, func() {
		counted = f.Count(b, func() {
			used = meter.During(b, func() {
				late = f.place(b, w, perSecond)
				f.await(b, w)
			})
		})
	})
	w.recorded = f.Recorded(b, w.answered)
	placed := len(w.answered) + int(warmUp.Seconds())*perSecond
	used.Report(b, placed, time.Millisecond, "cpu-s/1000")
	counted.Report(b, float64(placed), "order")
	w.report(b)
	b.ReportMetric(fixture.Milliseconds(late), "max-ms-late")
	b.ReportMetric(fixture.Load(b), "load")
	b.Logf("%d orders; from record: %s; from answer: %s; CPU: %s", len(w.answered),
		fixture.Between(w.recorded, w.received), fixture.Between(w.answered, w.received), used)
}

// place places orders at the rate, of one tenant after another.
func (f *acceptedFixture) place(b *testing.B, w *way, perSecond int) (late time.Duration) {
	b.Helper()
	pool := &clientPool{new: func() *client { return newClient(b, f.Env["GIFTING_URL"], nil) }}
	return fixture.AtRate(b, perSecond, warmUp, fixture.MeasuredTime(perSecond), func(call fixture.Call) error {
		of := f.tenants[call.Index%len(f.tenants)]
		c := pool.withKey(of.keys[call.Index/len(f.tenants)%placingKeys])
		name := fmt.Sprintf("rate-%d-%d", perSecond, call.Index)
		body := fmt.Sprintf(orderBody, name, of.Brand)
		requested := time.Now()
		answer, err := c.post("/orders", name, body, http.StatusCreated)
		answered := time.Now()
		pool.release(c)
		var order struct{ ID string }
		if err == nil {
			err = json.Unmarshal(answer, &order)
		}
		if err == nil && call.Measured {
			w.lock.Lock()
			defer w.lock.Unlock()
			w.due[order.ID], w.requested[order.ID], w.answered[order.ID] = call.Due, requested, answered
		}
		return err
	})
}

func (f *acceptedFixture) await(b *testing.B, w *way) {
	b.Helper()
	require.Eventually(b, func() bool {
		w.received = f.receiver.Arrivals(b).At
		for id := range w.answered {
			if _, found := w.received[id]; !found {
				return false
			}
		}
		return true
	}, 20*time.Second, 100*time.Millisecond, "orders that do not arrive")
}

// report reports the latencies from each of their beginnings.
func (w *way) report(b *testing.B) {
	b.Helper()
	fixture.Between(w.due, w.received).Report(b, "due")
	fixture.Between(w.requested, w.received).Report(b, "request")
	fixture.Between(w.recorded, w.received).Report(b, "record")
	fixture.Between(w.answered, w.received).Report(b, "answer")
}
