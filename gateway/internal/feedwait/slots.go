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
	// margin is how long a slot outlives its wait at most: the call is answered in that time. After a crash it is free then.
	margin = 15 * time.Second
)

// acquireScript takes a slot of a key. KEYS has the slots, ARGV are the limit, the name of the slot and the milliseconds until it
// is free in any case. Times are those of the clock of Redis.
var acquireScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
`)

var releaseScript = redis.NewScript(`return redis.call('ZREM', KEYS[1], ARGV[1])`)

// slots bounds the held calls: of this gateway, and of each key, on all gateways together as long as Redis answers.
type slots struct {
	redis redis.Scripter
	cfg   Config

	mu    sync.Mutex
	held  map[int32]int
	total int
}

func newSlots(r redis.Scripter, cfg Config) *slots {
	return &slots{redis: r, cfg: cfg, held: map[int32]int{}}
}

// Slot is the permission to hold a call.
type Slot struct {
	of       *slots
	tenantID string
	key      int32
	// name is that of the slot among those of the key in Redis, if inRedis.
	name              uuid.UUID
	inRedis, released bool
}

// slotsKey is where Redis has the slots of the key.
func (s *Slot) slotsKey() string {
	return "gifting:waits:{" + s.tenantID + "}:" + strconv.Itoa(int(s.key))
}

// Acquire takes a slot for a wait, or returns nil if the call cannot be held. The slot must be released.
func (w *Waits) Acquire(ctx context.Context, p caller.Principal, wait time.Duration) *Slot {
	if w.ShuttingDown() || !w.slots.take(p.KeyID) {
		return nil
	}
	slot := &Slot{of: w.slots, tenantID: p.TenantID, key: p.KeyID, name: uuid.New()}
	if w.slots.redis == nil {
		return slot
	}
	ctx, cancel := context.WithTimeout(ctx, w.slots.cfg.RedisBudget)
	defer cancel()
	until := (wait + margin).Milliseconds()
	taken, err := acquireScript.Run(ctx, w.slots.redis, []string{slot.slotsKey()}, maxPerKey, slot.name.String(), until).Bool()
	if err == nil && !taken {
		slot.Release(ctx)
		return nil
	}
	slot.inRedis = true // Also after an error: Redis may have taken the slot.
	return slot
}

func (s *slots) take(key int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[key] >= maxPerKey || s.total >= s.cfg.MaxHeld {
		return false
	}
	s.held[key]++
	s.total++
	return true
}

func (s *slots) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.total)
}

// Release frees the slot. A nil Slot was not acquired; a second call does nothing.
func (s *Slot) Release(ctx context.Context) {
	if s == nil || s.released {
		return
	}
	s.released = true
	if s.inRedis {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.of.cfg.RedisBudget)
		defer cancel()
		_ = releaseScript.Run(ctx, s.of.redis, []string{s.slotsKey()}, s.name.String()).Err() // Otherwise it is free after the margin.
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.total--
	if s.of.held[s.key]--; s.of.held[s.key] == 0 {
		delete(s.of.held, s.key)
	}
}
