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

const expectedTimestamp = "must be an ISO 8601 date-time with a zone, such as 2024-05-31T10:15:30Z"

// parseTimestamp reads an ISO 8601 date-time of the extended format with its zone. Digits past the nanosecond are dropped.
func parseTimestamp(text []byte) (seconds int64, nanos int32, ok bool) {
	precise, midnight, ok := toRFC3339(text)
	if !ok {
		return 0, 0, false
	}
	var t time.Time
	if err := t.UnmarshalText(precise); err != nil {
		return 0, 0, false
	}
	seconds = t.Unix()
	if midnight {
		seconds += int64(24 * time.Hour / time.Second)
	}
	return seconds, int32(t.Nanosecond()), seconds >= minSeconds && seconds <= maxSeconds //nolint:gosec // below 1e9
}

// toRFC3339 writes a date-time of ISO 8601 as RFC 3339 wants it. ISO 8601 also has times without seconds, a comma before the
// fraction, zones without a colon or minutes, lower case, and 24:00, which is the midnight at the end of the day: it becomes 00:00,
// and midnight is set.
func toRFC3339(text []byte) (precise []byte, midnight, ok bool) {
	const date = len("2006-01-02")
	if len(text) < len("2006-01-02T15:04Z") || text[date] != 'T' && text[date] != 't' {
		return nil, false, false
	}
	clock := text[date+1:]
	zoneAt := bytes.LastIndexAny(clock, "Zz+-")
	if zoneAt < len("15:04") || clock[len("15")] != ':' {
		return nil, false, false
	}
	clock, zone := clock[:zoneAt], clock[zoneAt:]
	precise = append(make([]byte, 0, len(text)+len(":00:00")), text[:date]...)
	precise = append(precise, 'T')
	if midnight = bytes.HasPrefix(clock, []byte("24:00")); midnight {
		if len(bytes.Trim(clock[len("24:00"):], ":0.,")) > 0 {
			return nil, false, false
		}
		precise = append(precise, "00"...)
	} else {
		precise = append(precise, clock[:len("15")]...)
	}
	precise = append(precise, bytes.Replace(clock[len("15"):], []byte(","), []byte("."), 1)...)
	if len(clock) == len("15:04") {
		precise = append(precise, ":00"...)
	}
	precise, ok = appendZone(precise, zone)
	return precise, midnight, ok
}

// appendZone adds a zone: Z, or an offset of hours and perhaps minutes. Package time would accept offsets of 24 hours or 60
// minutes.
func appendZone(dst, zone []byte) (_ []byte, ok bool) {
	if zone[0] == 'Z' || zone[0] == 'z' {
		return append(dst, 'Z'), len(zone) == 1
	}
	hours, minutes := zone[1:], []byte("00")
	switch len(hours) {
	case len("02"):
	case len("0200"):
		hours, minutes = hours[:2], hours[2:]
	case len("02:00"):
		if hours[2] != ':' {
			return nil, false
		}
		hours, minutes = hours[:2], hours[3:]
	default:
		return nil, false
	}
	dst = append(append(dst, zone[0]), hours...)
	dst = append(append(dst, ':'), minutes...)
	return dst, string(hours) < "24" && string(minutes) < "60"
}
