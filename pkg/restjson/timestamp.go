package restjson

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"time"
)

// The range of google.protobuf.Timestamp: the years 1 to 9999.
const (
	minSeconds = -62135596800
	maxSeconds = 253402300799
)

var errTimestampRange = errors.New("timestamp outside the years 1 to 9999")

const expectedTimestamp = "must be an ISO 8601 date-time with a zone, such as 2024-05-31T10:15:30Z"

// dateTime matches a date-time of ISO 8601 in the extended format with its zone: its day, its time, seconds with a fraction, and
// the sign, hours and minutes of an offset. Unlike RFC 3339, ISO 8601 has times without seconds, a comma before the fraction,
// offsets without a colon or minutes, and 24:00, which is the midnight at the end of the day.
var dateTime = regexp.MustCompile(
	`^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d)(:\d\d(?:[.,]\d+)?)?(?:[Zz]|([+-])([01]\d|2[0-3])(?::?([0-5]\d))?)$`)

// parseTimestamp reads a date-time of ISO 8601. Digits past the nanosecond are dropped.
func parseTimestamp(text string) (seconds int64, nanos int32, ok bool) {
	m := dateTime.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	clock, rest, zone := m[2], cmp.Or(strings.Replace(m[3], ",", ".", 1), ":00"), "Z"
	if m[4] != "" {
		zone = m[4] + m[5] + ":" + cmp.Or(m[6], "00")
	}
	midnight := clock == "24:00"
	if midnight {
		clock = "00:00"
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(m[1] + "T" + clock + rest + zone)); err != nil || midnight && strings.Trim(rest, ":.0") != "" {
		return 0, 0, false
	}
	seconds = t.Unix()
	if midnight {
		seconds += int64(24 * time.Hour / time.Second)
	}
	return seconds, int32(t.Nanosecond()), seconds >= minSeconds && seconds <= maxSeconds //nolint:gosec // below 1e9
}
