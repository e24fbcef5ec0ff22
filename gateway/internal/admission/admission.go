// Package admission bounds what callers can make a gateway hold at once: requests in flight of a key and of a tenant, and bytes of
// request bodies. The limiter counts requests in a minute; it does not see how long each takes and how large it is.
package admission

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
)

// Config of a Gate. By default a key may have all its requests of a minute in flight at once, because the API has no other limit
// for them.
type Config struct {
	RequestsPerKey    int   `env:"REQUESTS_PER_KEY" envDefault:"300" check:"min=1" doc:"Maximum number of requests of one API key that a gateway handles at once; further ones get 429."`
	RequestsPerTenant int   `env:"REQUESTS_PER_TENANT" envDefault:"600" check:"min=1" doc:"Maximum number of requests of all keys of a tenant that a gateway handles at once; further ones get 429."`
	BodyBytes         int64 `env:"BODY_BYTES" envDefault:"50331648" check:"min=50331648" doc:"Maximum number of bytes of request bodies in memory at a gateway, of which one tenant gets at most a quarter; further requests get 503. A body takes about three times its size in memory until its request ends."`
}

const (
	// smallBody is the size up to which a body may use the last quarter of the budget, so that large bodies of some tenants do
	// not refuse the usual requests of others.
	smallBody = 64 << 10
	// largeBody is the size from which a body takes so much processor time that few may be processed at once.
	largeBody = 1 << 20
	// tenantDivisor divides the budget. One tenant may use one part of it, and one part is kept for small bodies.
	tenantDivisor = 4
	// After a large body, its slot stays unused for cooldownFactor times the time that the body took. If the machine was suspended
	// meanwhile, that time is long, so maxCooldown bounds it.
	cooldownFactor = 3
	maxCooldown    = queueTimeout / 2
	// queueTimeout is how long a large body waits for a slot.
	queueTimeout = 5 * time.Second
	// retryAfter is how long a refused caller should wait. With a large body it is retryAfterLarge, because even a refused body has
	// used the network.
	retryAfter, retryAfterLarge = time.Second, 5 * time.Second
)

// Gate admits requests. Its methods may be called concurrently.
type Gate struct {
	cfg Config
	// slots has an entry for each large body that is processed, until the end of its cooldown. Large bodies so use at most half of
	// the processors at a time and an eighth on average, and other requests need not wait for them.
	slots chan struct{}

	mu      sync.Mutex
	keys    map[int32]int
	tenants map[string]*usage
	bytes   int64
}

// usage is what the requests of a tenant hold.
type usage struct {
	requests int
	bytes    int64
}

// New makes a Gate.
func New(cfg Config) *Gate {
	return &Gate{
		cfg: cfg, slots: make(chan struct{}, max(runtime.GOMAXPROCS(0)/2, 1)), keys: map[int32]int{}, tenants: map[string]*usage{},
	}
}

// Pass is the admission of one request. It is used by one goroutine.
type Pass struct {
	gate   *Gate
	tenant string
	key    int32
	bytes  int64
	// processing is set while the request has a slot for a large body, since began.
	processing bool
	began      time.Time
	// paused is set while the request waits and does not count.
	paused bool
}

// Admit admits a request, or returns rate_limited if its key or its tenant has too many in flight. The Pass must be released.
func (g *Gate) Admit(tenant string, key int32) (*Pass, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.keys[key] >= g.cfg.RequestsPerKey {
		return nil, httperror.RateLimited("This key has too many requests under way.", retryAfter)
	}
	if used := g.tenants[tenant]; used != nil && used.requests >= g.cfg.RequestsPerTenant {
		return nil, httperror.RateLimited("The keys of this tenant have too many requests under way.", retryAfter)
	}
	p := &Pass{gate: g, tenant: tenant, key: key}
	p.add()
	return p, nil
}

// Release frees what the request holds. A nil Pass holds nothing.
func (p *Pass) Release() {
	if p == nil {
		return
	}
	p.Processed()
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if !p.paused {
		p.remove()
	}
}

// Pause lets the request not count while it waits for something that may take long. It must hold no bytes.
func (p *Pass) Pause() {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.paused = true
	p.remove()
}

// Resume lets the request count again. It is never refused: it was admitted before.
func (p *Pass) Resume() {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	p.paused = false
	p.add()
}

// add counts the request. The caller has locked the Gate.
func (p *Pass) add() {
	used := p.gate.tenants[p.tenant]
	if used == nil {
		used = &usage{}
		p.gate.tenants[p.tenant] = used
	}
	used.requests++
	p.gate.keys[p.key]++
}

// remove undoes add, and frees the bytes. The caller has locked the Gate.
func (p *Pass) remove() {
	g, used := p.gate, p.gate.tenants[p.tenant]
	used.requests--
	used.bytes -= p.bytes
	g.bytes -= p.bytes
	if used.requests == 0 {
		delete(g.tenants, p.tenant)
	}
	if g.keys[p.key]--; g.keys[p.key] == 0 {
		delete(g.keys, p.key)
	}
}

// Expect returns service_unavailable if there is no room for the bytes that a request announces. It keeps no room for them.
func (p *Pass) Expect(bytes int64) error {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	return p.checkRoom(bytes)
}

// Reserve adds to the bytes that the request holds, or returns service_unavailable.
func (p *Pass) Reserve(bytes int64) error {
	p.gate.mu.Lock()
	defer p.gate.mu.Unlock()
	if err := p.checkRoom(bytes); err != nil {
		return err
	}
	p.bytes += bytes
	p.gate.tenants[p.tenant].bytes += bytes
	p.gate.bytes += bytes
	return nil
}

// checkRoom checks whether the request may hold so many more bytes. The caller has locked the Gate.
func (p *Pass) checkRoom(bytes int64) error {
	g := p.gate
	limit := g.cfg.BodyBytes
	if p.bytes+bytes > smallBody {
		limit -= limit / tenantDivisor
	}
	if g.bytes+bytes > limit || g.tenants[p.tenant].bytes+bytes > g.cfg.BodyBytes/tenantDivisor {
		return refusal(p.bytes + bytes)
	}
	return nil
}

// refusal tells the caller of a body of so many bytes to wait.
func refusal(bytes int64) error {
	e := problem.New(problem.ServiceUnavailable, "Too many large requests are under way.")
	if e.RetryAfter = retryAfter; bytes >= largeBody {
		e.RetryAfter = retryAfterLarge
	}
	return e
}

// Process waits until the body that was read may be processed, or returns service_unavailable. If the caller has left meanwhile, it
// is not refused.
func (p *Pass) Process(ctx context.Context) error {
	if p.bytes < largeBody {
		return nil
	}
	waiting, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	select {
	case p.gate.slots <- struct{}{}:
		p.processing, p.began = true, time.Now()
		return nil
	case <-waiting.Done():
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("wait for other large requests: %w", err)
		}
		return refusal(p.bytes)
	}
}

// Processed ends what Process began: what remains is done by a service. A nil Pass has no slot.
func (p *Pass) Processed() {
	if p == nil || !p.processing {
		return
	}
	p.processing = false
	time.AfterFunc(min(cooldownFactor*time.Since(p.began), maxCooldown), func() { <-p.gate.slots })
}
