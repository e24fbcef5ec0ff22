package feedwait

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/redis/go-redis/v9"

	"github.com/partnergifting/platform/pkg/caller"
)

const (
	// maxPerKey is how many calls of a key all gateways hold at once.
	maxPerKey = 4
	// margin is how long a place outlives its wait at most: the call is answered in that time. After a crash it is free then.
	margin = 15 * time.Second
)

// enterScript takes a place of a key. KEYS has the places, ARGV are the limit, the name of the place and the milliseconds until it
// is free in any case. Times are those of the clock of Redis.
var enterScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
`)

var leaveScript = redis.NewScript(`return redis.call('ZREM', KEYS[1], ARGV[1])`)

// places bounds the held calls: of this gateway, and of each key, on all gateways together as long as Redis answers.
type places struct {
	redis redis.Scripter
	cfg   Config

	mu    sync.Mutex
	held  map[int32]int
	total int
}

func newPlaces(r redis.Scripter, cfg Config) *places {
	return &places{redis: r, cfg: cfg, held: map[int32]int{}}
}

// Place is the permission to hold a call.
type Place struct {
	of       *places
	tenantID string
	key      int32
	// name is that of the place in Redis, in the places of the key, if Redis knows it.
	name        uuid.UUID
	known, left bool
}

// log is where Redis has the places of the key.
func (p *Place) log() string { return "gifting:waits:{" + p.tenantID + "}:" + strconv.Itoa(int(p.key)) }

// Enter takes a place for a wait, or returns nil if the call cannot be held. The place must be left.
func (w *Waits) Enter(ctx context.Context, p caller.Principal, wait time.Duration) *Place {
	if !w.places.enter(p.KeyID) {
		return nil
	}
	place := &Place{of: w.places, tenantID: p.TenantID, key: p.KeyID, name: uuid.New()}
	if w.Ending() { // Only now, because otherwise Ended could miss the place.
		place.Leave(ctx)
		return nil
	}
	if w.places.redis == nil {
		return place
	}
	ctx, cancel := context.WithTimeout(ctx, w.places.cfg.RedisBudget)
	defer cancel()
	taken, err := enterScript.Run(ctx, w.places.redis, []string{place.log()}, maxPerKey, place.name.String(), (wait + margin).Milliseconds()).Bool()
	if err == nil && !taken {
		place.Leave(ctx)
		return nil
	}
	place.known = true // Also after an error: Redis may have taken the place.
	return place
}

func (p *places) enter(key int32) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[key] >= maxPerKey || p.total >= p.cfg.MaxHeld {
		return false
	}
	p.held[key]++
	p.total++
	return true
}

func (p *places) count() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.total)
}

// Leave frees the place. A nil Place was not taken; a second call does nothing.
func (p *Place) Leave(ctx context.Context) {
	if p == nil || p.left {
		return
	}
	p.left = true
	if p.known {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), p.of.cfg.RedisBudget)
		defer cancel()
		_ = leaveScript.Run(ctx, p.of.redis, []string{p.log()}, p.name.String()).Err() // Otherwise it is free after the margin.
	}
	p.of.mu.Lock()
	defer p.of.mu.Unlock()
	p.of.total--
	if p.of.held[p.key]--; p.of.held[p.key] == 0 {
		delete(p.of.held, p.key)
	}
}
