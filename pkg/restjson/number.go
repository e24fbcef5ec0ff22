package restjson

import (
	"bytes"
	"math"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// maxDigits is how many digits the largest 64-bit integers have.
const maxDigits = 20

// whole is the outcome of reading a JSON number as an integer.
type whole struct {
	negative bool
	size     uint64 // absolute value
	integral bool
	tooLarge bool // for 64 bits
}

// parseInteger reads a JSON number that may be written in any form: 12, 12.0, 1.2e1. Its cost depends on the literal's length,
// not on the exponent.
func parseInteger(raw []byte) whole {
	var w whole
	if raw[0] == '-' {
		w.negative, raw = true, raw[1:]
	}
	exponent := 0
	if i := bytes.IndexAny(raw, "eE"); i >= 0 {
		raw, exponent = raw[:i], boundedExponent(raw[i+1:])
	}
	var digits [maxDigits]byte
	n, zeros := 0, 0 // digits held; zeros seen since the last of them
	for point, c := range raw {
		switch {
		case c == '.':
			exponent -= len(raw) - point - 1
		case c == '0' && n == 0: // leading
		case c == '0':
			zeros++
		case n+zeros+1 > maxDigits:
			// More significant digits than any integer in range has. Whether the number is
			// integral would only change the wording of the violation.
			return whole{integral: true, tooLarge: true}
		default:
			for ; zeros > 0; zeros-- {
				digits[n] = '0'
				n++
			}
			digits[n] = c
			n++
		}
	}
	return w.scale(digits[:n], exponent+zeros)
}

// scale completes w with the value digits × 10^exponent; the last digit is not 0.
func (w whole) scale(digits []byte, exponent int) whole {
	switch {
	case len(digits) == 0:
		w.integral = true
	case exponent < 0:
		// The last digit is after the decimal point.
	case len(digits)+exponent > maxDigits:
		w.integral, w.tooLarge = true, true
	default:
		w.integral = true
		var text [maxDigits]byte
		all := append(text[:0], digits...)
		for range exponent {
			all = append(all, '0')
		}
		size, err := strconv.ParseUint(string(all), 10, 64)
		w.size, w.tooLarge = size, err != nil
	}
	return w
}

// boundedExponent reads digits with an optional sign. Its result is capped far beyond the length of any body.
func boundedExponent(raw []byte) int {
	negative := raw[0] == '-'
	if negative || raw[0] == '+' {
		raw = raw[1:]
	}
	n := 0
	for _, c := range raw {
		if n = n*10 + int(c-'0'); n > math.MaxInt32 {
			n = math.MaxInt32
		}
	}
	if negative {
		return -n
	}
	return n
}

// integer converts w to the integer type of p, or returns what is wrong.
func integer(p *value, w whole) (v protoreflect.Value, wrong string) {
	if !w.integral {
		return v, p.expected()
	}
	limit := uint64(1) << (p.bits - 1) // the absolute value of the smallest
	largest := limit - 1
	if w.negative {
		largest = limit
	}
	if w.tooLarge || w.size > largest {
		return v, "must be an integer from -" + strconv.FormatUint(limit, 10) + " to " + strconv.FormatUint(limit-1, 10)
	}
	n := int64(w.size) //nolint:gosec // 1<<63 wraps to the smallest, which is meant
	if w.negative {
		n = -n
	}
	if p.bits == 32 {
		return protoreflect.ValueOfInt32(int32(n)), "" //nolint:gosec // within the limit
	}
	return protoreflect.ValueOfInt64(n), ""
}
