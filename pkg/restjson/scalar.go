package restjson

import (
	"bytes"
	"encoding/base64"
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
