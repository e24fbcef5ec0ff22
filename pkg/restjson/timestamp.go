package restjson

import (
	"bytes"
	"errors"
	"time"
)

// The range of google.protobuf.Timestamp: the years 1 to 9999.
const (
	minSeconds = -62135596800
	maxSeconds = 253402300799
)

var errTimestampRange = errors.New("timestamp outside the years 1 to 9999")

const expectedTimestamp = "must be an RFC 3339 date-time with a zone, such as 2024-05-31T10:15:30Z"

// appendTimestamp adds the quoted RFC 3339 text, cut to microseconds: `"2024-05-31T10:15:30.25Z"`.
func appendTimestamp(dst []byte, seconds int64, nanos int32) ([]byte, error) {
	if seconds < minSeconds || seconds > maxSeconds || nanos < 0 || nanos >= int32(time.Second) {
		return dst, errTimestampRange
	}
	t := time.Unix(seconds, 0).UTC()
	year, month, day := t.Date()
	hour, minute, second := t.Clock()
	dst = append(dst, '"')
	dst = append(appendTwo(appendTwo(dst, year/100), year%100), '-')
	dst = append(appendTwo(dst, int(month)), '-')
	dst = append(appendTwo(dst, day), 'T')
	dst = append(appendTwo(dst, hour), ':')
	dst = append(appendTwo(dst, minute), ':')
	dst = appendTwo(dst, second)
	if micros := int(nanos) / 1000; micros > 0 {
		dst = append(dst, '.')
		dst = appendTwo(appendTwo(appendTwo(dst, micros/10000), micros/100%100), micros%100)
		for dst[len(dst)-1] == '0' {
			dst = dst[:len(dst)-1]
		}
	}
	return append(dst, 'Z', '"'), nil
}

// appendTwo adds a number below 100 as two digits.
func appendTwo(dst []byte, n int) []byte {
	const digits = "0123456789"
	return append(dst, digits[n/10], digits[n%10])
}

// parseTimestamp reads a date-time with its zone. Digits past the nanosecond are dropped.
func parseTimestamp(text []byte) (seconds int64, nanos int32, ok bool) {
	if !strict(text) {
		return 0, 0, false
	}
	var t time.Time
	if err := t.UnmarshalText(text); err != nil {
		return 0, 0, false
	}
	seconds = t.Unix()
	return seconds, int32(t.Nanosecond()), seconds >= minSeconds && seconds <= maxSeconds //nolint:gosec // below 1e9
}

// strict refuses what package time takes although RFC 3339 does not: an hour of one digit, a comma
// before the fraction, an offset of 24 hours or of 60 minutes.
func strict(text []byte) bool {
	const hourEnd = len("2006-01-02T15")
	if len(text) < len("2006-01-02T15:04:05Z") || text[hourEnd] != ':' || bytes.IndexByte(text, ',') >= 0 {
		return false
	}
	if text[len(text)-1] == 'Z' {
		return true
	}
	offset := string(text[len(text)-len("15:04"):])
	return offset[:2] < "24" && offset[3:] < "60"
}
