package restjson

import (
	"cmp"
	"slices"
	"strconv"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// message writes a message.
func (e *encoder) message(p *message, m protoreflect.Message) {
	switch {
	case !m.IsValid():
		e.null()
	case p.form == formTimestamp:
		e.timestamp(m.Get(p.fields[0].desc).Int(), int32(m.Get(p.fields[1].desc).Int())) //nolint:gosec // the field is an int32
	case p.form == formInlineField:
		e.field(&p.fields[0], m)
	case p.form == formInlineOneof:
		e.inlineOneof(p, m)
	default:
		start := len(e.buf)
		for i := range p.fields {
			f := &p.fields[i]
			if f.presence == presenceOmitted && !m.Has(f.desc) {
				continue
			}
			e.buf = append(e.buf, f.key...)
			e.field(f, m)
		}
		e.closeObject(start)
	}
}

func (e *encoder) inlineOneof(p *message, m protoreflect.Message) {
	for i := range p.fields {
		if f := &p.fields[i]; m.Has(f.desc) {
			e.field(f, m)
			return
		}
	}
	e.null()
}

func (e *encoder) field(f *field, m protoreflect.Message) {
	switch {
	case f.presence != presenceNone && !m.Has(f.desc):
		e.null()
	case f.shape == shapeMap:
		e.mapOf(f, m.Get(f.desc).Map())
	case f.shape == shapeList:
		list := m.Get(f.desc).List()
		start := len(e.buf)
		for i := range list.Len() {
			e.buf = append(e.buf, ',')
			e.value(&f.value, list.Get(i))
		}
		e.closeArray(start)
	default:
		e.value(&f.value, m.Get(f.desc))
	}
	e.failIn(f)
}

func (e *encoder) value(p *value, v protoreflect.Value) {
	switch p.kind {
	case kindBool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case kindInt:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case kindString, kindDecimal:
		e.string(v.String())
	case kindRaw:
		e.raw(v.Bytes())
	case kindEnum:
		e.enum(p.enum, v.Enum())
	case kindMessage:
		e.message(p.message, v.Message())
	}
}

// entry is one entry of a map.
type entry struct {
	key   string
	value protoreflect.Value
}

func (e *encoder) mapOf(f *field, m protoreflect.Map) {
	entries := make([]entry, 0, m.Len())
	for key, v := range m.Range {
		entries = append(entries, entry{key.String(), v})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	start := len(e.buf)
	for _, entry := range entries {
		e.buf = append(e.buf, ',')
		e.string(entry.key)
		e.buf = append(e.buf, ':')
		e.value(&f.value, entry.value)
	}
	e.closeObject(start)
}

// closeObject ends an object whose members were written from start on, each after a comma: the
// first comma becomes the brace.
func (e *encoder) closeObject(start int) { e.close(start, '{', '}') }

func (e *encoder) closeArray(start int) { e.close(start, '[', ']') }

func (e *encoder) close(start int, opening, closing byte) {
	if len(e.buf) == start {
		e.buf = append(e.buf, opening)
	} else {
		e.buf[start] = opening
	}
	e.buf = append(e.buf, closing)
}
