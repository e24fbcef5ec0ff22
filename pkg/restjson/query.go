package restjson

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// UnmarshalQuery reads query parameters into the single scalar, enum and timestamp fields of m, by their JSON names, and reports
// all violations and ignored parameters. Fields that the path binds are named in bound, by their protobuf names, and are neither
// read nor checked.
func UnmarshalQuery(values url.Values, m proto.Message, bound ...string) Findings {
	return unmarshalQuery(values, m, func(name string) bool { return slices.Contains(bound, name) })
}

func unmarshalQuery(values url.Values, m proto.Message, bound func(name string) bool) (found Findings) {
	pb := m.ProtoReflect()
	p, err := planOf(pb.Type())
	if err != nil {
		return Findings{Violations: wholeBody("the query cannot be read: " + err.Error())}
	}
	ignored := maps.Clone(values)
	for i := range p.fields {
		f := &p.fields[i]
		given, ok := values[f.name]
		if !ok || !f.inQuery() || bound(string(f.desc.Name())) {
			continue
		}
		delete(ignored, f.name)
		if wrong := setParameter(pb, f, given); wrong != "" {
			found.Violations = append(found.Violations, invalid(f.name, wrong))
		}
	}
	found.Ignored = slices.Sorted(maps.Keys(ignored))
	return found
}

// inQuery reports whether one parameter can hold the field.
func (f *field) inQuery() bool {
	if f.shape != shapeSingle || f.kind == kindRaw {
		return false
	}
	return f.kind != kindMessage || f.message.form == formTimestamp
}

// setParameter sets field f of m, or says what is wrong.
func setParameter(m protoreflect.Message, f *field, given []string) (wrong string) {
	if len(given) > 1 {
		return "must not be given more than once"
	}
	text := given[0]
	if !utf8.ValidString(text) {
		return "must be valid UTF-8"
	}
	if f.kind == kindMessage {
		return setTimestampParameter(m, f, text)
	}
	v, wrong := parameter(&f.value, text)
	if wrong == "" {
		m.Set(f.desc, v)
	}
	return wrong
}

func setTimestampParameter(m protoreflect.Message, f *field, s string) (wrong string) {
	seconds, nanos, ok := parseTimestamp(s)
	if !ok {
		// In a query a bare + means a space.
		if _, _, ok := parseTimestamp(strings.ReplaceAll(s, " ", "+")); ok {
			return "has an unencoded +: send Z, or encode + as %2B"
		}
		return expectedTimestamp
	}
	value := m.NewField(f.desc)
	f.message.setTimestamp(value.Message(), seconds, nanos)
	m.Set(f.desc, value)
	return ""
}

// parameter turns the text of a parameter into a scalar, or says what is wrong.
func parameter(p *value, s string) (v protoreflect.Value, wrong string) {
	switch p.kind {
	case kindBool:
		if s != "true" && s != "false" {
			return v, "must be true or false"
		}
		return protoreflect.ValueOfBool(s == "true"), ""
	case kindInt:
		digits := strings.TrimPrefix(s, "-")
		if digits == "" || strings.Trim(digits, "0123456789") != "" {
			return v, p.expected()
		}
		return integer(p, parseInteger(s))
	case kindDecimal:
		return decimal(s)
	case kindString:
		return protoreflect.ValueOfString(s), "" // A filter may have a value that no record has.
	default:
		return text(p, []byte(s))
	}
}
