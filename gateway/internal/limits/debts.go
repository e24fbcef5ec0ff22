package limits

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// maxSettled is for how many subjects one round trip settles what Redis is owed.
const maxSettled = 256

// settleScript adds requests to the log KEYS[1] that a gateway has accepted alone, whatever the limit. ARGV are the window and the
// age of each request, in microseconds.
var settleScript = redis.NewScript(`
local t = redis.call('TIME')
local now, window = t[1] * 1000000 + t[2], tonumber(ARGV[1])
local log = redis.pcall('LRANGE', KEYS[1], 0, -1)
if log.err then return 0 end
for i = 2, #ARGV do
  if tonumber(ARGV[i]) < window then log[#log + 1] = string.format('%.0f', now - ARGV[i]) end
end
if #log == 0 then return 0 end
table.sort(log, function(a, b) return tonumber(a) < tonumber(b) end)
redis.call('DEL', KEYS[1])
redis.call('RPUSH', KEYS[1], unpack(log))
redis.call('PEXPIRE', KEYS[1], 2 * (math.ceil(window / 1000) + 200))
return 0
`)

// debts are the requests that this process has accepted and Redis has not counted: the time of each, by the log of its subject.
type debts struct {
	policy Policy

	mu   sync.Mutex
	logs map[string][]time.Time
}

func (d *debts) add(log string, at ...time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, ok := d.logs[log]; !ok && len(d.logs) >= maxSubjects {
		for victim := range d.logs {
			delete(d.logs, victim)
			break
		}
	}
	owed := append(d.logs[log], at...)
	// More than the limit can only be of several windows.
	d.logs[log] = owed[max(len(owed)-d.policy.Limit, 0):]
}

// settle adds to a pipeline what settles some of the debts. The caller gives to done the time of the round trip's end: what failed
// is owed again. If only the answer was lost, Redis counts the requests twice, which no caller can use to get more.
func (d *debts) settle(ctx context.Context, pipe redis.Pipeliner, now time.Time) (done func()) {
	type part struct {
		log    string
		times  []time.Time
		answer *redis.Cmd
	}
	var parts []part
	d.mu.Lock()
	for log, times := range d.logs {
		if len(parts) == maxSettled {
			break
		}
		parts = append(parts, part{log: log, times: times})
		delete(d.logs, log)
	}
	d.mu.Unlock()
	for i, p := range parts {
		args := []any{d.policy.Window.Microseconds()}
		for _, at := range p.times {
			args = append(args, max(now.Sub(at).Microseconds(), 0))
		}
		parts[i].answer = settleScript.Eval(ctx, pipe, []string{p.log}, args...)
	}
	return func() {
		for _, p := range slices.Backward(parts) {
			if p.answer.Err() != nil {
				d.add(p.log, p.times...)
			}
		}
	}
}
