package restjson

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxDecimal is how many characters a decimal may have.
const maxDecimal = 64

const (
	containsNUL     = "must not contain the character U+0000"
	containsTooMany = "holds too many elements"
	decimalTooLong  = "must not have more than 64 characters"
	numberTooLarge  = "must be a number within the range of its type"
)

func holdsNUL(s string) bool { return strings.IndexByte(s, 0) >= 0 }

// accepts reports whether a JSON value of kind k can be a p at all.
func (p *value) accepts(k jsontext.Kind) bool {
	switch p.kind {
	case kindBool:
		return k == jsontext.KindTrue || k == jsontext.KindFalse
	case kindInt, kindUint, kindFloat:
		return k == jsontext.KindNumber
	case kindDecimal:
		return k == jsontext.KindNumber || k == jsontext.KindString
	default:
		return k == jsontext.KindString
	}
}

// expected returns the violation text that describes a valid p.
func (p *value) expected() string {
	switch p.kind {
	case kindBool:
		return "must be a boolean"
	case kindInt, kindUint:
		return "must be an integer"
	case kindFloat:
		return "must be a number"
	case kindDecimal:
		return "must be a decimal number, as a string or a number"
	case kindBytes, kindRaw:
		return "must be a base64 string"
	case kindEnum:
		return "must be one of " + strings.Join(p.enum.All(), ", ")
	case kindMessage:
		return p.message.expected()
	default:
		return "must be a string"
	}
}

func (f *field) expected() string {
	switch f.shape {
	case shapeList:
		return "must be an array"
	case shapeMap:
		return "must be an object"
	default:
		return f.value.expected()
	}
}

func (m *message) expected() string {
	switch m.form {
	case formTimestamp:
		return expectedTimestamp
	case formInlineField:
		return m.fields[0].expected()
	default:
		return "must be an object"
	}
}

// parse turns the literal raw, of a kind that p accepts, into a value, or says what is wrong.
func (d *decoder) parse(p *value, k jsontext.Kind, raw []byte) (v protoreflect.Value, wrong string) {
	switch p.kind {
	case kindBool:
		return protoreflect.ValueOfBool(k == jsontext.KindTrue), ""
	case kindInt:
		return integer(p, parseInteger(raw))
	case kindUint:
		return integer(p, parseInteger(raw))
	case kindFloat:
		return float(p, string(raw))
	case kindDecimal:
		if k == jsontext.KindNumber {
			return decimal(string(raw))
		}
		return decimal(string(d.unquote(raw)))
	default:
		return text(p, d.unquote(raw))
	}
}

// text reads the content of a string: as a string, an enum's name or base64.
func text(p *value, raw []byte) (v protoreflect.Value, wrong string) {
	switch p.kind {
	case kindEnum:
		n, ok := p.enum.Number(string(raw))
		if !ok {
			return v, p.expected()
		}
		return protoreflect.ValueOfEnum(n), ""
	case kindBytes:
		// The standard decoder ignores line breaks.
		b, err := base64.StdEncoding.Strict().AppendDecode([]byte{}, raw) // never nil, which would be unset
		if err != nil || bytes.ContainsAny(raw, "\r\n") {
			return v, p.expected()
		}
		return protoreflect.ValueOfBytes(b), ""
	default:
		if bytes.IndexByte(raw, 0) >= 0 {
			return v, containsNUL
		}
		return protoreflect.ValueOfString(string(raw)), ""
	}
}

func decimal(s string) (v protoreflect.Value, wrong string) {
	switch {
	case utf8.RuneCountInString(s) > maxDecimal:
		return v, decimalTooLong
	case holdsNUL(s):
		return v, containsNUL
	default:
		return protoreflect.ValueOfString(s), ""
	}
}

func float(p *value, s string) (v protoreflect.Value, wrong string) {
	n, err := strconv.ParseFloat(s, p.bits)
	switch {
	case err != nil:
		return v, numberTooLarge
	case p.bits == 32:
		return protoreflect.ValueOfFloat32(float32(n)), ""
	default:
		return protoreflect.ValueOfFloat64(n), ""
	}
}

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

// strict refuses texts that package time accepts but RFC 3339 does not: an hour of one digit, a comma before the fraction, an
// offset of 24 hours or of 60 minutes.
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
