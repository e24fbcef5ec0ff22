package limits

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// takeScript counts a request. KEYS are the log of the subject and, for a key, the version of its tenant's settings. ARGV are the
// limit, the window in microseconds, and 0 for a request that only asks for the version. The result is how many requests may still
// be accepted with this one, the microseconds until more may be, and the version.
//
// The log is a list of the times at which requests were accepted, by the clock of Redis. If that clock goes back, what lies in the
// future gets the current time: it would otherwise refuse requests for as long as the clock went back, and must count for a window,
// because it may be new. So the times always ascend.
//
// The log expires between one and about two windows after its last entry: setting the expiry with each request would cost
// replicas and the append-only file more than the request itself. The extra 200 ms are for a Redis whose clock advances in steps,
// such as the embedded one.
var takeScript = redis.NewScript(`
local t = redis.call('TIME')
local now, limit, window = t[1] * 1000000 + t[2], tonumber(ARGV[1]), tonumber(ARGV[2])
local log, stay = KEYS[1], math.ceil(window / 1000) + 200
local stamp = t[1] .. string.sub('00000' .. t[2], -6)
local last = -1
local newest = redis.call('LINDEX', log, last)
while newest and tonumber(newest) > now do
  redis.call('LSET', log, last, stamp)
  last = last - 1
  newest = redis.call('LINDEX', log, last)
end
local oldest = redis.call('LINDEX', log, 0)
while oldest and tonumber(oldest) <= now - window do
  redis.call('LPOP', log)
  oldest = redis.call('LINDEX', log, 0)
end
local room = math.max(limit - redis.call('LLEN', log), 0)
if room > 0 and ARGV[3] == '1' then
  redis.call('RPUSH', log, stamp)
  if redis.call('PTTL', log) < stay then redis.call('PEXPIRE', log, 2 * stay) end
end
return {room, (tonumber(oldest) or now) + window - now, KEYS[2] and redis.pcall('GET', KEYS[2]) or ''}
`)

// subject is an API key or an address whose requests are counted: where Redis has its log, and the version of its tenant's
// settings.
type subject struct{ log, version string }

func keySubject(tenantID string, keyID int32) subject {
	return subject{
		log:     "gifting:requests:{" + tenantID + "}:" + strconv.Itoa(int(keyID)),
		version: "gifting:tenant-version:{" + tenantID + "}",
	}
}

var errUnknownAnswer = errors.New("the script of the limit did not return three values")

// ask is one call of the script.
type ask struct {
	subject

	count   bool // False asks only for the version.
	verdict Verdict
	version int64
	err     error
}

const (
	// maxAsks bounds the calls of the script that Redis gets in one write.
	maxAsks = 64
	// maxWrites is how many writes wait for Redis at once. With more, each carries fewer requests; with fewer, a request waits longer
	// before it is sent: about the time of an answer, divided by this.
	maxWrites = 2
)

// takeShared counts a request in Redis, or only asks for the version. Concurrent requests share a write to Redis and then go on
// together, so their calls of the services share writes too. Alone each, a page of the feed cost 18 % more processor time.
func (l *Limiter) takeShared(ctx context.Context, s subject, count bool) (Verdict, int64, error) {
	ctx, cancel := context.WithTimeout(ctx, l.budget)
	defer cancel()
	a := &ask{subject: s, count: count}
	if err := l.asks.Do(ctx, a); err != nil {
		return Verdict{}, 0, fmt.Errorf("count request in Redis: %w", err)
	}
	return a.verdict, a.version, a.err
}

// send answers each of the asks, in one write unless Redis lacks the script. The trace of the first one shows it.
func (l *Limiter) send(ctx context.Context, asks []*ask) error {
	if lacking := l.run(ctx, asks, takeScript.EvalSha); len(lacking) > 0 {
		l.run(ctx, lacking, takeScript.Eval)
	}
	l.record(ctx, asks[len(asks)-1].err) // Redis answers in order.
	return nil
}

// run returns the asks for which Redis lacks the script.
func (l *Limiter) run(
	ctx context.Context, asks []*ask, eval func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd,
) (lacking []*ask) {
	answers := make([]*redis.Cmd, len(asks))
	_, _ = l.redis.Pipelined(ctx, func(p redis.Pipeliner) error { // Each answer has its error.
		for i, a := range asks {
			answers[i] = eval(ctx, p, a.keys(), l.args(a)...)
		}
		return nil
	})
	for i, a := range asks {
		if a.read(answers[i]); redis.HasErrorPrefix(answers[i].Err(), "NOSCRIPT") {
			lacking = append(lacking, a)
		}
	}
	return lacking
}

func (a *ask) keys() []string {
	if a.subject.version == "" {
		return []string{a.log}
	}
	return []string{a.log, a.subject.version}
}

func (l *Limiter) args(a *ask) []any {
	counted := "0"
	if a.count {
		counted = "1"
	}
	return []any{l.Limit, l.Window.Microseconds(), counted}
}

func (a *ask) read(answer *redis.Cmd) {
	var values []any
	if values, a.err = answer.Slice(); a.err != nil {
		return
	}
	if len(values) != 3 { //nolint:mnd // As the script returns.
		a.err = errUnknownAnswer
		return
	}
	room, _ := values[0].(int64)
	micros, _ := values[1].(int64)
	text, _ := values[2].(string)
	a.version, _ = strconv.ParseInt(text, 10, 64) // A version that is missing or not a number is unknown.
	a.verdict = Verdict{Allowed: room > 0, Remaining: max(int(room)-1, 0), Reset: time.Duration(micros) * time.Microsecond}
}
