package restjson

import (
	"bytes"
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
		return integer(p, parseInteger(raw))
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
