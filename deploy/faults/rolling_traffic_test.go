//go:build faults

package faults_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	// keysOfTraffic are so many that no key reaches its limit of 300 a minute.
	keysOfTraffic = 40
	lookEvery     = 20 * time.Millisecond
	// externalID stands in the body of an order for the id that each has of its own.
	externalID = "an id of the tenant"
)

// balancer sends requests to the gateways that say they are ready, in turn, and tries none again.
type balancer struct {
	gateways []*upstream
	next     atomic.Uint64
	client   *http.Client
}

// upstream is a gateway as the balancer knows it.
type upstream struct {
	base, readyz string
	ready        atomic.Bool
}

// look asks the gateways for their readiness until ctx ends.
func (b *balancer) look(ctx context.Context) {
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		for _, g := range b.gateways {
			g.ready.Store(b.answersOK(ctx, g.readyz))
		}
		<-ticker.C
	}
}

func (b *balancer) answersOK(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	res, err := b.client.Do(req)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// base gives the address of the next gateway.
func (b *balancer) base() string {
	for range b.gateways {
		g := b.gateways[b.next.Add(1)%uint64(len(b.gateways))]
		if g.ready.Load() {
			return g.base
		}
	}
	return "http://no.gateway.is.ready.invalid"
}

// traffic makes requests at a rate, however long their answers take.
type traffic struct {
	balancer *balancer
	keys     []string
	// webhookKey is the one whose webhook is tested.
	webhookKey   string
	order, batch string
	group        sync.WaitGroup

	lock   sync.Mutex
	asked  map[string]int
	failed []string
	orders []string
}

// run makes requests until ctx ends and waits for their answers.
func (tr *traffic) run(ctx context.Context, perSecond int) {
	ticker := time.NewTicker(time.Second / time.Duration(perSecond))
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			tr.group.Wait()
			return
		case <-ticker.C:
		}
		tr.group.Go(func() { tr.request(context.WithoutCancel(ctx), n) })
	}
}

// request makes the n-th request.
func (tr *traffic) request(ctx context.Context, n int) {
	key := tr.keys[n%len(tr.keys)]
	switch n % 20 {
	case 0, 4, 8, 12, 16:
		if answer, ok := tr.exchange(ctx, key, call{method: http.MethodPost, path: "/orders", body: strings.Replace(tr.order, externalID, rand.Text(), 1)}); ok {
			tr.placed(answer)
		}
	case 1, 5, 9, 13, 17:
		tr.exchange(ctx, key, call{method: http.MethodGet, path: "/catalog/products?country=SE&limit=20"})
	case 2, 10:
		if id := tr.anOrder(n); id != "" {
			tr.exchange(ctx, key, call{method: http.MethodGet, path: "/orders/" + id})
		}
	case 3, 11:
		tr.exchange(ctx, key, call{method: http.MethodGet, path: "/orders?limit=20"})
	case 6, 18:
		tr.exchange(ctx, key, call{method: http.MethodGet, path: "/events?limit=20"})
	case 7, 15:
		tr.exchange(ctx, key, call{method: http.MethodPost, path: "/personal-links:create-batch", body: tr.batch})
	case 19:
		tr.exchange(ctx, tr.webhookKey, call{method: http.MethodPost, path: "/webhooks:test", body: "{}"})
	default:
		tr.exchange(ctx, key, call{method: http.MethodGet, path: "/me"})
	}
}

func (tr *traffic) exchange(ctx context.Context, key string, c call) (body string, ok bool) {
	began := time.Now()
	c.idempotencyKey = rand.Text()
	asking := client{http: tr.balancer.client, bases: []string{tr.balancer.base()}, turn: &atomic.Uint64{}, key: key}
	a, err := asking.send(ctx, c)
	path, _, _ := strings.Cut(c.path, "?")
	tr.lock.Lock()
	defer tr.lock.Unlock()
	tr.asked[c.method+" /"+strings.Split(path, "/")[1]]++
	if err == nil && a.good() {
		return a.body, true
	}
	tr.failed = append(tr.failed, fmt.Sprintf("%s %s %s after %s: %d %v %s",
		began.Format("15:04:05.000"), c.method, c.path, time.Since(began).Round(time.Millisecond), a.status, err, a.body))
	return "", false
}

func (tr *traffic) placed(answer string) {
	var order struct{ ID string }
	err := json.Unmarshal([]byte(answer), &order)
	tr.lock.Lock()
	defer tr.lock.Unlock()
	if err != nil || order.ID == "" {
		tr.failed = append(tr.failed, "no order: "+answer)
		return
	}
	tr.orders = append(tr.orders, order.ID)
}

func (tr *traffic) anOrder(n int) string {
	tr.lock.Lock()
	defer tr.lock.Unlock()
	if len(tr.orders) == 0 {
		return ""
	}
	return tr.orders[n%len(tr.orders)]
}

// report logs what was asked and gives what failed.
func (tr *traffic) report(t *testing.T) []string {
	t.Helper()
	total := 0
	for _, n := range tr.asked {
		total += n
	}
	t.Logf("%d requests: %v; %d failed", total, tr.asked, len(tr.failed))
	return tr.failed
}
