package restjson

import (
	"bytes"
	"math"
	"strconv"
	"strings"
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
)

func holdsNUL(s string) bool { return strings.IndexByte(s, 0) >= 0 }

// accepts reports whether a JSON value of kind k can be a p at all.
func (p *value) accepts(k jsontext.Kind) bool {
	switch p.kind {
	case kindBool:
		return k == jsontext.KindTrue || k == jsontext.KindFalse
	case kindInt:
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
	case kindInt:
		return "must be an integer"
	case kindDecimal:
		return "must be a decimal number, as a string or a number"
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
		return integer(p, parseInteger(string(raw)))
	case kindDecimal:
		if k == jsontext.KindNumber {
			return decimal(string(raw))
		}
		return decimal(string(d.unquote(raw)))
	default:
		return text(p, d.unquote(raw))
	}
}

// text reads the content of a string: as a string or an enum's name.
func text(p *value, raw []byte) (v protoreflect.Value, wrong string) {
	if p.kind == kindEnum {
		n, ok := p.enum.Number(string(raw))
		if !ok {
			return v, p.expected()
		}
		return protoreflect.ValueOfEnum(n), ""
	}
	if bytes.IndexByte(raw, 0) >= 0 {
		return v, containsNUL
	}
	return protoreflect.ValueOfString(string(raw)), ""
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

// maxDigits is how many digits the largest 64-bit integers have.
const maxDigits = 20

// integerLiteral is the outcome of reading a JSON number as an integer.
type integerLiteral struct {
	negative  bool
	magnitude uint64 // The absolute value.
	integral  bool
	tooLarge  bool // for 64 bits
}

// parseInteger reads a JSON number that may be written in any form: 12, 12.0, 1.2e1. Its cost depends on the literal's length,
// not on the exponent.
func parseInteger(number string) (w integerLiteral) {
	number, w.negative = strings.CutPrefix(number, "-")
	mantissa, exponent := number, 0
	if i := strings.IndexAny(number, "eE"); i >= 0 {
		power, _ := strconv.Atoi(number[i+1:]) // One that is out of range is the largest or the smallest.
		mantissa, exponent = number[:i], min(max(power, math.MinInt32), math.MaxInt32)
	}
	before, after, _ := strings.Cut(mantissa, ".")
	all := strings.TrimLeft(before+after, "0")
	digits := strings.TrimRight(all, "0")
	exponent += len(all) - len(digits) - len(after)
	switch {
	case digits == "":
		w.integral = true
	case exponent < 0: // The last digit is after the decimal point.
	case exponent > maxDigits-len(digits):
		w.integral, w.tooLarge = true, true
	default:
		magnitude, err := strconv.ParseUint(digits+strings.Repeat("0", exponent), 10, 64)
		w.integral, w.magnitude, w.tooLarge = true, magnitude, err != nil
	}
	return w
}

// integer converts w to the integer type of p, or returns what is wrong.
func integer(p *value, w integerLiteral) (v protoreflect.Value, wrong string) {
	if !w.integral {
		return v, p.expected()
	}
	limit := uint64(1) << (p.bits - 1) // the absolute value of the smallest
	largest := limit - 1
	if w.negative {
		largest = limit
	}
	if w.tooLarge || w.magnitude > largest {
		return v, "must be an integer from -" + strconv.FormatUint(limit, 10) + " to " + strconv.FormatUint(limit-1, 10)
	}
	n := int64(w.magnitude) //nolint:gosec // 1<<63 wraps to the smallest, which is meant
	if w.negative {
		n = -n
	}
	if p.bits == 32 {
		return protoreflect.ValueOfInt32(int32(n)), "" //nolint:gosec // within the limit
	}
	return protoreflect.ValueOfInt64(n), ""
}
