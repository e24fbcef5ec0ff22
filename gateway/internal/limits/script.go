package limits

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// takeScript counts requests of several subjects. KEYS are the logs of the subjects, then the versions of tenants' settings.
// ARGV are the limit, the window in microseconds, and for each log the number of requests. The result has for each log the
// number of accepted requests and the microseconds until more can be accepted, then the versions.
//
// A log is a list of the times at which requests were accepted, by the clock of Redis. It expires between one and about two
// windows after its last entry: setting the expiry with each request would cost replicas and the append-only file more than the
// request itself. The extra 200 ms are for a Redis whose clock advances in steps, such as the embedded one. For a key that is
// not a list the number is -1, and the others are not affected.
var takeScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local limit, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local time, stay = t[1] .. string.sub('00000' .. t[2], -6), math.ceil(window / 1000) + 200
local answer = {}
for i = 1, #ARGV - 2 do
  local log, room, accepted = KEYS[i], -1, 0
  local oldest = redis.pcall('LINDEX', log, 0)
  if type(oldest) ~= 'table' then
    while oldest and tonumber(oldest) <= now - window do
      redis.call('LPOP', log)
      oldest = redis.call('LINDEX', log, 0)
    end
    room = limit
    if oldest then room = math.max(limit - redis.call('LLEN', log), 0) end
    accepted = math.min(room, tonumber(ARGV[i + 2]))
  end
  if accepted > 0 then
    local times = {}
    for n = 1, accepted do times[n] = time end
    redis.call('RPUSH', log, unpack(times))
    if redis.call('PTTL', log) < stay then redis.call('PEXPIRE', log, 2 * stay) end
  end
  answer[2 * i - 1], answer[2 * i] = room, (tonumber(oldest) or now) + window - now
end
for i = #ARGV - 1, #KEYS do
  answer[#answer + 1] = redis.pcall('GET', KEYS[i]) or ''
end
return answer
`)

// subject is an API key or an address whose requests are counted: the keys of its log and version in Redis, and the tag in
// their braces.
type subject struct{ tag, log, version string }

// request is one request to be counted, and its position in a run of the script.
type request struct {
	subject subject
	// onlyAsks means that it is not counted: it only wants the version.
	onlyAsks bool
	run      *scriptRun
	// log and version are indexes in the run. version is -1 if the subject has none.
	log, version int
	// ahead is how many requests of the same log come before this one.
	ahead int

	mu    sync.Mutex
	stage stage
	// owed is when this process accepted the request alone; it is zero if it did not.
	owed time.Time
}

// stage is how far a request is on its way to Redis.
type stage int

const (
	waiting stage = iota
	sent
	ended
)

// begin reports whether the request still waits, and is now to be sent.
func (r *request) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stage != waiting {
		return false
	}
	r.stage = sent
	return true
}

// scriptRun is one run of the script.
type scriptRun struct {
	logs     []string
	wanted   []int
	versions []string
	requests int
	answer   *redis.Cmd
}

func (s *scriptRun) add(r *request) {
	r.run, r.log, r.version = s, indexOf(&s.logs, r.subject.log), -1
	if r.log == len(s.wanted) {
		s.wanted = append(s.wanted, 0)
	}
	r.ahead = s.wanted[r.log]
	if !r.onlyAsks {
		s.wanted[r.log]++
	}
	s.requests++
	if r.subject.version != "" {
		r.version = indexOf(&s.versions, r.subject.version)
	}
}

// indexOf returns the index of a key, which it adds if necessary.
func indexOf(keys *[]string, key string) int {
	i := slices.Index(*keys, key)
	if i < 0 {
		i = len(*keys)
		*keys = append(*keys, key)
	}
	return i
}

func (s *scriptRun) keys() []string { return slices.Concat(s.logs, s.versions) }

func (s *scriptRun) args(p Policy) []any {
	args := make([]any, 0, 2+len(s.wanted))
	args = append(args, p.Limit, p.Window.Microseconds())
	for _, n := range s.wanted {
		args = append(args, n)
	}
	return args
}

var errNotALog = errors.New("the key in Redis is not a log of requests")

// verdict reads the request's verdict and the version of the tenant's settings from the result of the run.
func (r *request) verdict() (Verdict, int64, error) {
	raw, err := r.run.answer.Slice()
	if err != nil {
		return Verdict{}, 0, fmt.Errorf("count request: %w", err)
	}
	room, _ := raw[2*r.log].(int64)
	micros, _ := raw[2*r.log+1].(int64)
	if room < 0 {
		return Verdict{}, 0, errNotALog
	}
	left := int(room) - r.ahead
	v := Verdict{Allowed: left > 0, Remaining: max(left-1, 0), Reset: time.Duration(micros) * time.Microsecond}
	if r.version < 0 {
		return v, 0, nil
	}
	// A version that is missing or not a number is unknown.
	text, _ := raw[2*len(r.run.logs)+r.version].(string)
	version, _ := strconv.ParseInt(text, 10, 64)
	return v, version, nil
}
