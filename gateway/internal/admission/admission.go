// Package admission bounds what the callers of a gateway can make it hold at once: requests under way of a key and of a tenant,
// and bytes of request bodies. The limiter counts requests in a minute; it does not see how long each takes and how large it is.
package admission

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
)

// Config of a Gate. By default a key may have all its requests of a minute under way at once, because the API promises them without
// a further limit.
type Config struct {
	RequestsPerKey    int   `env:"REQUESTS_PER_KEY" envDefault:"300" check:"min=1" doc:"Requests of one API key that a gateway handles at once; one more gets 429."`
	RequestsPerTenant int   `env:"REQUESTS_PER_TENANT" envDefault:"600" check:"min=1" doc:"Requests of all keys of a tenant that a gateway handles at once; one more gets 429."`
	BodyBytes         int64 `env:"BODY_BYTES" envDefault:"50331648" check:"min=50331648" doc:"Bytes of request bodies that a gateway holds at once; one tenant gets at most a quarter. More get 503. A body takes about three times its size in memory until its request ends."`
}

const (
	// smallBody is the size up to which a body may use the last quarter of the budget, so that large bodies of some tenants do
	// not refuse the usual requests of others.
	smallBody = 64 << 10
	// largeBody is the size from which a body takes so much processor time that few may be worked on at once.
	largeBody = 1 << 20
	// share is the part of the budget that one tenant may use, and the part that is kept for small bodies.
	share = 4
	// rests is how many times as long as a large body was worked on its place then stays empty.
	rests = 3
	// patience is how long a large body waits for its place.
	patience = 5 * time.Second
	// wait is how long a refused caller should wait, and waitLarge one with a large body: even a refused one has cost the network.
	wait, waitLarge = time.Second, 5 * time.Second
)

// The causes of a refusal, which are values of a label.
const (
	keyFull    = "key"
	tenantFull = "tenant"
	bodiesFull = "bodies"
)

// Gate admits requests. Its methods may be called concurrently.
type Gate struct {
	cfg      Config
	refusals metric.Int64Counter
	// large has a place for each large body that may be worked on. Together they use at most an eighth of the processors, and half
	// of them at a time, so that other requests need not wait for them.
	large chan struct{}

	mu      sync.Mutex
	keys    map[int32]int
	tenants map[string]*use
	bytes   int64
}

// use is what the requests of a tenant hold.
type use struct {
	requests int
	bytes    int64
}

// New makes a Gate.
func New(cfg Config, meter metric.Meter) (*Gate, error) {
	g := &Gate{
		cfg: cfg, large: make(chan struct{}, max(runtime.GOMAXPROCS(0)/2, 1)), keys: map[int32]int{}, tenants: map[string]*use{},
	}
	var err error
	g.refusals, err = meter.Int64Counter("gifting.gateway.refusals",
		metric.WithDescription("Requests refused because a key, its tenant or all callers together had too much under way."))
	if err != nil {
		return nil, fmt.Errorf("metric of refusals: %w", err)
	}
	for _, cause := range []string{keyFull, tenantFull, bodiesFull} {
		g.count(context.Background(), cause, 0)
	}
	_, err = meter.Int64ObservableGauge("gifting.gateway.bodies", metric.WithUnit("By"),
		metric.WithDescription("Bytes of request bodies that the gateway holds."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(g.held())
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("metric of bodies: %w", err)
	}
	return g, nil
}

func (g *Gate) held() int64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.bytes
}

func (g *Gate) count(ctx context.Context, cause string, n int64) {
	g.refusals.Add(ctx, n, metric.WithAttributes(attribute.String("cause", cause)))
}

// Pass is the admission of one request. It is used by one goroutine.
type Pass struct {
	gate   *Gate
	tenant string
	key    int32
	bytes  int64
	// large is set while the request has one of the places for large bodies, since began.
	large bool
	began time.Time
	// paused is set while the request waits and does not count.
	paused bool
}

// Enter admits a request, or returns rate_limited if its key or its tenant has too many under way. The caller must call Leave.
func (g *Gate) Enter(ctx context.Context, tenant string, key int32) (*Pass, error) {
	switch cause := g.enter(tenant, key); cause {
	case keyFull:
		g.count(ctx, cause, 1)
		return nil, httperror.RateLimited("This key has too many requests under way.", wait)
	case tenantFull:
		g.count(ctx, cause, 1)
		return nil, httperror.RateLimited("The keys of this tenant have too many requests under way.", wait)
	}
	return &Pass{gate: g, tenant: tenant, key: key}, nil
}

// enter returns the cause of a refusal.
func (g *Gate) enter(tenant string, key int32) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys[key] >= g.cfg.RequestsPerKey {
		return keyFull
	}
	if of := g.tenants[tenant]; of != nil && of.requests >= g.cfg.RequestsPerTenant {
		return tenantFull
	}
	g.add(tenant, key)
	return ""
}

// add counts a request. The caller has locked the Gate.
func (g *Gate) add(tenant string, key int32) {
	of := g.tenants[tenant]
	if of == nil {
		of = &use{}
		g.tenants[tenant] = of
	}
	of.requests++
	g.keys[key]++
}

// Pause lets the request not count while it waits for something that may take long. It must hold no bytes.
func (p *Pass) Pause() {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.paused = true
	p.gate.leave(p)
}

// Resume lets the request count again. It is never refused: it was admitted before.
func (p *Pass) Resume() {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.paused = false
	p.gate.add(p.tenant, p.key)
}

// Expect returns service_unavailable if there is no room for the bytes that a request announces. It keeps no room for them.
func (p *Pass) Expect(ctx context.Context, bytes int64) error {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if p.gate.fits(p, bytes) {
		return nil
	}
	return p.full(ctx, bytes)
}

// Reserve adds to the bytes that the request holds, or returns service_unavailable.
func (p *Pass) Reserve(ctx context.Context, bytes int64) error {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if !p.gate.fits(p, bytes) {
		return p.full(ctx, p.bytes+bytes)
	}
	p.bytes += bytes
	p.gate.tenants[p.tenant].bytes += bytes
	p.gate.bytes += bytes
	return nil
}

func (p *Pass) full(ctx context.Context, bytes int64) error {
	p.gate.count(ctx, bodiesFull, 1)
	e := problem.New(problem.ServiceUnavailable, "Too many large requests are under way.")
	if e.RetryAfter = wait; bytes >= largeBody {
		e.RetryAfter = waitLarge
	}
	return e
}

// Work waits until the body that was read may be worked on, or returns service_unavailable. If the caller leaves meanwhile, it is not
// refused.
func (p *Pass) Work(ctx context.Context) error {
	if p.bytes < largeBody {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case p.gate.large <- struct{}{}:
		p.large, p.began = true, time.Now()
		return nil
	case <-waiting.Done():
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wait for other large requests: %w", err)
		}
		return p.full(ctx, p.bytes)
	}
}

// Worked ends what Work began: the rest is the work of a service. The place stays empty for a while. A nil Pass has none.
func (p *Pass) Worked() {
	if p == nil || !p.large {
		return
	}
	p.large = false
	// A machine that stood still must not keep large bodies out for long.
	rest := min(rests*time.Since(p.began), patience/2)
	time.AfterFunc(rest, func() { <-p.gate.large })
}

// fits reports whether the request may hold so many more bytes. The caller has locked the Gate.
func (g *Gate) fits(p *Pass, bytes int64) bool {
	limit := g.cfg.BodyBytes
	if p.bytes+bytes > smallBody {
		limit -= limit / share
	}
	return g.bytes+bytes <= limit && g.tenants[p.tenant].bytes+bytes <= g.cfg.BodyBytes/share
}

// Leave gives back what the request held. A nil Pass held nothing.
func (p *Pass) Leave() {
	if p == nil {
		return
	}
	p.Worked()
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if !p.paused {
		p.gate.leave(p)
	}
}

// leave ends what add began, and gives back the bytes. The caller has locked the Gate.
func (g *Gate) leave(p *Pass) {
	of := g.tenants[p.tenant]
	of.requests--
	of.bytes -= p.bytes
	g.bytes -= p.bytes
	if of.requests == 0 {
		delete(g.tenants, p.tenant)
	}
	if g.keys[p.key]--; g.keys[p.key] == 0 {
		delete(g.keys, p.key)
	}
}
