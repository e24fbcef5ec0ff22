package limits

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"
)

// take counts requests of several subjects. First among KEYS are their logs, each with an ARGV that says how many of its
// requests want to be accepted, then the versions of tenants' settings. The answer has for each log how many there was
// room for and the microseconds until there is more, then the versions.
//
// A log is a list, the times of the accepted requests on the clock of Redis. It stays for a window after its last one at
// the least, for about two at the most: a time set anew for each would cost replicas and the file of Redis more than the
// request itself. The 200 ms are for a Redis whose time passes in steps, as the embedded one's. A key that is no list
// has room for -1, and disturbs no other.
var take = redis.NewScript(`
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

// mostInCall bounds for how long one run of the script keeps Redis from everybody else.
const mostInCall = 64

// call is one run of the script.
type call struct {
	logs     []string
	wanted   []int
	versions []string
	size     int
	answer   *redis.Cmd
}

// place is where a request stands in a call.
type place struct {
	call         *call
	log, version int
	// ahead is how many requests of the same log come before it.
	ahead int
}

func (c *call) add(s subject) place {
	p := place{call: c, log: indexOf(&c.logs, s.log), version: -1}
	if p.log == len(c.wanted) {
		c.wanted = append(c.wanted, 0)
	}
	p.ahead = c.wanted[p.log]
	c.wanted[p.log]++
	c.size++
	if s.version != "" {
		p.version = indexOf(&c.versions, s.version)
	}
	return p
}

// indexOf adds a key that is not yet there.
func indexOf(keys *[]string, key string) int {
	i := slices.Index(*keys, key)
	if i < 0 {
		i = len(*keys)
		*keys = append(*keys, key)
	}
	return i
}

func (c *call) keys() []string { return slices.Concat(c.logs, c.versions) }

func (c *call) args(p Policy) []any {
	args := make([]any, 0, 2+len(c.wanted))
	args = append(args, p.Limit, p.Window.Microseconds())
	for _, n := range c.wanted {
		args = append(args, n)
	}
	return args
}

var errNoLog = errors.New("the key in Redis is no log of requests")

// verdict reads what the answer says of one request, and the version of its tenant's settings.
func (p place) verdict() (Verdict, int64, error) {
	raw, err := p.call.answer.Slice()
	if err != nil {
		return Verdict{}, 0, fmt.Errorf("count request: %w", err)
	}
	room, _ := raw[2*p.log].(int64)
	micros, _ := raw[2*p.log+1].(int64)
	if room < 0 {
		return Verdict{}, 0, errNoLog
	}
	left := int(room) - p.ahead
	v := Verdict{Allowed: left > 0, Remaining: max(left-1, 0), Reset: time.Duration(micros) * time.Microsecond}
	if p.version < 0 {
		return v, 0, nil
	}
	// A version that is not there or not a number is not known.
	text, _ := raw[2*len(p.call.logs)+p.version].(string)
	version, _ := strconv.ParseInt(text, 10, 64)
	return v, version, nil
}
