package restjson

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// object reads an object into m.
func (d *decoder) object(p *message, m protoreflect.Message) error {
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	for d.json.PeekKind() != jsontext.KindEndObject {
		name, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		text := d.unquote(name)
		f, known := p.byName[string(text)]
		if !known || d.isBound(f) {
			d.ignore(text)
			if err := d.skip(); err != nil {
				return err
			}
			continue
		}
		d.enter(step{name: f.name})
		if err := d.field(f, m); err != nil {
			return err
		}
		d.leave()
	}
	_, err := d.json.ReadToken()
	return err
}

// isBound reports whether the path of the request binds the field, which is a member of the body itself.
func (d *decoder) isBound(f *field) bool {
	return len(d.path) == 0 && slices.Contains(d.bound, string(f.desc.Name()))
}

// field reads the next value into field f of m.
func (d *decoder) field(f *field, m protoreflect.Message) error {
	k := d.json.PeekKind()
	if k == jsontext.KindNull {
		return d.skip()
	}
	var v protoreflect.Value
	var ok bool
	var err error
	switch {
	case f.shape == shapeList && k == jsontext.KindBeginArray:
		v, ok = m.NewField(f.desc), true
		err = d.list(f, v.List())
	case f.shape == shapeMap && k == jsontext.KindBeginObject:
		v, ok = m.NewField(f.desc), true
		err = d.mapping(f, v.Map())
	case f.shape != shapeSingle:
		d.violation(f.expected())
		return d.skip()
	case f.kind == kindMessage:
		v = m.NewField(f.desc)
		ok, err = d.message(f.message, v.Message())
	default:
		v, ok, err = d.scalar(&f.value)
	}
	if ok && err == nil {
		m.Set(f.desc, v)
	}
	return err
}

// message reads the next value into m, and reports whether m is to be used.
func (d *decoder) message(p *message, m protoreflect.Message) (bool, error) {
	k := d.json.PeekKind()
	switch {
	case p.form == formInlineOneof || p.form == formInlineField && p.fields[0].kind == kindRaw:
		d.violation("cannot be given")
		return false, d.skip()
	case p.form == formInlineField && k != jsontext.KindNull:
		f, before := &p.fields[0], d.violationCount
		isList := f.shape == shapeList && k == jsontext.KindBeginArray
		err := d.field(f, m)
		return isList || d.violationCount == before, err
	case p.form == formTimestamp && k == jsontext.KindString:
		text, err := d.json.ReadValue()
		if err != nil {
			return false, err
		}
		seconds, nanos, ok := parseTimestamp(string(d.unquote(text)))
		if !ok {
			d.violation(expectedTimestamp)
			return false, nil
		}
		p.setTimestamp(m, seconds, nanos)
		return true, nil
	case p.form == formObject && k == jsontext.KindBeginObject:
		return true, d.object(p, m)
	default:
		d.violation(p.expected())
		return false, d.skip()
	}
}

// list reads an array. An invalid element becomes an empty one, so that indexes keep their meaning.
func (d *decoder) list(f *field, l protoreflect.List) error {
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	full := false
	for i := 0; d.json.PeekKind() != jsontext.KindEndArray; i++ {
		if d.elementCount == maxElements {
			if err := d.tooMany(&full); err != nil {
				return err
			}
			continue
		}
		d.elementCount++
		d.enter(step{index: i, element: true})
		v, ok, err := d.element(f, l.NewElement)
		if err != nil {
			return err
		}
		if !ok && f.kind != kindMessage {
			v = l.NewElement()
		}
		l.Append(v)
		d.leave()
	}
	_, err := d.json.ReadToken()
	return err
}

// mapping reads an object whose member names are the caller's own.
func (d *decoder) mapping(f *field, m protoreflect.Map) error {
	if _, err := d.json.ReadToken(); err != nil {
		return err
	}
	full := false
	for d.json.PeekKind() != jsontext.KindEndObject {
		name, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		if d.elementCount == maxElements {
			if err := d.tooMany(&full); err != nil {
				return err
			}
			continue
		}
		d.elementCount++
		key := string(d.unquote(name))
		d.enter(step{name: key})
		if err := d.entry(f, m, key); err != nil {
			return err
		}
		d.leave()
	}
	_, err := d.json.ReadToken()
	return err
}

func (d *decoder) entry(f *field, m protoreflect.Map, key string) error {
	if holdsNUL(key) {
		d.violation(containsNUL)
		return d.skip()
	}
	v, ok, err := d.element(f, m.NewValue)
	if ok && err == nil {
		m.Set(protoreflect.ValueOfString(key).MapKey(), v)
	}
	return err
}

// element reads the next value as an element of a list or map, and reports whether it is valid.
func (d *decoder) element(f *field, empty func() protoreflect.Value) (v protoreflect.Value, ok bool, err error) {
	if f.kind != kindMessage {
		return d.scalar(&f.value)
	}
	v = empty()
	ok, err = d.message(f.message, v.Message())
	return v, ok, err
}

// tooMany skips an element that is not read, and reports the first one of its list or map.
func (d *decoder) tooMany(full *bool) error {
	if !*full {
		d.violation(containsTooMany)
	}
	*full = true
	return d.skip()
}

// scalar reads the next value, and reports whether it fits p.
func (d *decoder) scalar(p *value) (v protoreflect.Value, ok bool, err error) {
	k := d.json.PeekKind()
	if !p.accepts(k) {
		d.violation(p.expected())
		return v, false, d.skip()
	}
	raw, err := d.json.ReadValue()
	if err != nil {
		return v, false, err
	}
	v, wrong := d.parse(p, k, raw)
	if wrong != "" {
		d.violation(wrong)
		return v, false, nil
	}
	return v, true, nil
}

// unquote returns the text of a JSON string, valid until the next call.
func (d *decoder) unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], raw) // the tokenizer has checked it
	return d.scratch
}
