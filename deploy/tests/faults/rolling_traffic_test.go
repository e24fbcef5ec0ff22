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
	// trafficKeys is the number of keys, so that none reaches its limit of 300 requests a minute.
	trafficKeys       = 40
	readinessInterval = 20 * time.Millisecond
	// externalID is replaced with a unique id in the body of each order.
	externalID = "an id of the tenant"
)

// gateway is an instance of the gateway as a load balancer sees it.
type gateway struct {
	*instance
	isReady atomic.Bool
}

// traffic sends requests at a fixed rate, however long their responses take. Each is sent once, to a gateway that is ready.
type traffic struct {
	http     *http.Client
	gateways []*gateway
	next     atomic.Uint64
	keys     []string
	// webhookKey is the key whose webhook is tested.
	webhookKey   string
	order, batch string
	group        sync.WaitGroup

	lock   sync.Mutex
	sent   map[string]int
	failed []string
	orders []string
}

// watch checks the readiness of the gateways until ctx ends.
func (tr *traffic) watch(ctx context.Context) {
	ticker := time.NewTicker(readinessInterval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		for _, g := range tr.gateways {
			g.isReady.Store(g.ready(ctx))
		}
		<-ticker.C
	}
}

// base returns the address of the next gateway that is ready.
func (tr *traffic) base() string {
	for range tr.gateways {
		g := tr.gateways[tr.next.Add(1)%uint64(len(tr.gateways))]
		if g.isReady.Load() {
			return baseOf(g.addr)
		}
	}
	return "http://no.gateway.is.ready.invalid"
}

// run sends requests until ctx ends and waits for their answers.
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

// request sends the n-th request.
func (tr *traffic) request(ctx context.Context, n int) {
	get := func(path string) call { return call{method: http.MethodGet, path: path} }
	post := func(path, body string) call { return call{method: http.MethodPost, path: path, body: body} }
	key := tr.keys[n%len(tr.keys)]
	switch n % 20 {
	case 0, 4, 8, 12, 16:
		if answer, ok := tr.send(ctx, key, post("/orders", strings.Replace(tr.order, externalID, rand.Text(), 1))); ok {
			tr.placed(answer)
		}
	case 1, 5, 9, 13, 17:
		tr.send(ctx, key, get("/catalog/products?country=SE&limit=20"))
	case 2, 10:
		if id := tr.anOrder(n); id != "" {
			tr.send(ctx, key, get("/orders/"+id))
		}
	case 3, 11:
		tr.send(ctx, key, get("/orders?limit=20"))
	case 6, 18:
		tr.send(ctx, key, get("/events?limit=20"))
	case 7, 15:
		tr.send(ctx, key, post("/personal-links:create-batch", tr.batch))
	case 19:
		tr.send(ctx, tr.webhookKey, post("/webhooks:test", "{}"))
	default:
		tr.send(ctx, key, get("/me"))
	}
}

func (tr *traffic) send(ctx context.Context, key string, c call) (body string, ok bool) {
	began := time.Now()
	c.idempotencyKey = rand.Text()
	by := client{http: tr.http, bases: []string{tr.base()}, next: &atomic.Uint64{}, key: key}
	a, err := by.sendOnce(ctx, c)
	path, _, _ := strings.Cut(c.path, "?")
	tr.lock.Lock()
	defer tr.lock.Unlock()
	tr.sent[c.method+" /"+strings.Split(path, "/")[1]]++
	if err == nil && a.success() {
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
		tr.failed = append(tr.failed, "not an order: "+answer)
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

// report logs the number of requests and returns those that failed.
func (tr *traffic) report(t *testing.T) []string {
	t.Helper()
	total := 0
	for _, n := range tr.sent {
		total += n
	}
	t.Logf("%d requests: %v; %d failed", total, tr.sent, len(tr.failed))
	return tr.failed
}
