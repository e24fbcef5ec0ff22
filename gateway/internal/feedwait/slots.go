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
	// maxPerKey is how many calls of an API key may wait for an event at once, on all gateways together.
	maxPerKey = 4
	// margin is added to a call's wait to get the time after which Redis frees its slot in any case. It leaves time to answer the
	// call. Only a slot that was not released, for instance after a crash, is freed this way.
	margin = 15 * time.Second
	// maxLifetime is longer than that of the slot of the longest wait.
	maxLifetime = time.Minute
)

// acquireScript takes a slot for an API key and returns 1, or 0 if all are taken. KEYS[1] is the sorted set of the API key's slots,
// by the time at which each is freed in any case. ARGV are the limit, the name of the slot, the milliseconds until that time and
// those of the longest lifetime. Times are by the clock of Redis. If that clock went back, slots have times beyond the longest
// lifetime: they are freed too.
var acquireScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '(' .. (now + ARGV[4]), '+inf')
if redis.call('ZCARD', KEYS[1]) >= tonumber(ARGV[1]) then return 0 end
redis.call('ZADD', KEYS[1], now + ARGV[3], ARGV[2])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[3]) then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
`)

var releaseScript = redis.NewScript(`return redis.call('ZREM', KEYS[1], ARGV[1])`)

// slots limits how many calls are held: on this gateway, and for each API key. The limit of a key is for all gateways together;
// without Redis, each gateway applies it on its own.
type slots struct {
	redis *redis.Client
	cfg   Config

	mu    sync.Mutex
	held  map[int32]int
	total int
}

func newSlots(r *redis.Client, cfg Config) *slots {
	return &slots{redis: r, cfg: cfg, held: map[int32]int{}}
}

// Slot is the permission to hold a call.
type Slot struct {
	slots    *slots
	tenantID string
	keyID    int32
	// name identifies the slot in Redis. inRedis means that Redis may have it.
	name              uuid.UUID
	inRedis, released bool
}

// slotsKey returns the Redis key of the API key's slots.
func (s *Slot) slotsKey() string {
	return "gifting:waits:{" + s.tenantID + "}:" + strconv.Itoa(int(s.keyID))
}

// Acquire takes a slot for a wait, or returns nil if the call cannot be held. The slot must be released.
func (w *Waits) Acquire(ctx context.Context, p caller.Principal, wait time.Duration) *Slot {
	if w.ShuttingDown() || !w.slots.acquireHere(p.KeyID) {
		return nil
	}
	slot := &Slot{slots: w.slots, tenantID: p.TenantID, keyID: p.KeyID, name: uuid.New()}
	if w.slots.redis == nil {
		return slot
	}
	ctx, cancel := context.WithTimeout(ctx, w.slots.cfg.RedisBudget)
	defer cancel()
	lifetime := (wait + margin).Milliseconds()
	taken, err := acquireScript.Run(ctx, w.slots.redis, []string{slot.slotsKey()},
		maxPerKey, slot.name.String(), lifetime, maxLifetime.Milliseconds()).Bool()
	if err == nil && !taken {
		slot.Release(ctx)
		return nil
	}
	slot.inRedis = true // Also after an error: Redis may have taken the slot.
	return slot
}

// acquireHere counts a call on this gateway, unless one of this gateway's limits is reached.
func (s *slots) acquireHere(keyID int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[keyID] >= maxPerKey || s.total >= s.cfg.MaxHeld {
		return false
	}
	s.held[keyID]++
	s.total++
	return true
}

func (s *slots) count() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.total)
}

// Release frees the slot. It does nothing if the slot is nil or was already released.
func (s *Slot) Release(ctx context.Context) {
	if s == nil || s.released {
		return
	}
	s.released = true
	if s.inRedis {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.slots.cfg.RedisBudget)
		defer cancel()
		// If this fails, Redis frees the slot when its lifetime is over.
		_ = releaseScript.Run(ctx, s.slots.redis, []string{s.slotsKey()}, s.name.String()).Err()
	}
	s.slots.mu.Lock()
	defer s.slots.mu.Unlock()
	s.slots.total--
	if s.slots.held[s.keyID]--; s.slots.held[s.keyID] == 0 {
		delete(s.slots.held, s.keyID)
	}
}
