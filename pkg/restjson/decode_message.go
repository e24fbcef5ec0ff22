package restjson

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// object reads an object into o.
func (d *decoder) object(p *message, o target) error {
	if err := d.open(); err != nil {
		return err
	}
	for d.json.PeekKind() != jsontext.KindEndObject {
		name, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		f, known := p.byName[string(d.unquote(name))]
		if !known {
			if err := d.skip(); err != nil {
				return err
			}
			continue
		}
		d.enter(step{name: f.name})
		if err := d.field(f, o); err != nil {
			return err
		}
		d.leave()
	}
	_, err := d.json.ReadToken()
	return err
}

// field reads the next value into field f of o.
func (d *decoder) field(f *field, o target) error {
	k := d.json.PeekKind()
	if k == jsontext.KindNull {
		return d.json.SkipValue()
	}
	if other := o.otherMember(f); other != nil {
		d.fault("cannot be given together with " + other.JSONName())
		return d.skip()
	}
	switch {
	case f.shape == shapeList && k == jsontext.KindBeginArray:
		return d.list(f, o)
	case f.shape == shapeMap && k == jsontext.KindBeginObject:
		return d.mapping(f, o)
	case f.shape != shapeSingle:
		d.fault(f.expected())
		return d.skip()
	case f.kind == kindMessage:
		child := o.newMessage(f)
		ok, err := d.message(f.message, child)
		if ok && err == nil {
			o.setMessage(f, child)
		}
		return err
	default:
		v, ok, err := d.scalar(&f.value)
		if ok && err == nil {
			o.set(f, v)
		}
		return err
	}
}

// message reads the next value into m, and reports whether m is to be used.
func (d *decoder) message(p *message, m target) (bool, error) {
	k := d.json.PeekKind()
	switch {
	case p.form == formInlineOneof || p.form == formInlineField && p.fields[0].kind == kindRaw:
		d.fault("cannot be given")
		return false, d.skip()
	case p.form == formInlineField && k != jsontext.KindNull:
		before := d.count
		err := d.field(&p.fields[0], m)
		return d.count == before, err
	case p.form == formTimestamp && k == jsontext.KindString:
		text, err := d.json.ReadValue()
		if err != nil {
			return false, err
		}
		seconds, nanos, ok := parseTimestamp(d.unquote(text))
		if !ok {
			d.fault(expectedTimestamp)
			return false, nil
		}
		m.setTimestamp(p, seconds, nanos)
		return true, nil
	case p.form == formObject && k == jsontext.KindBeginObject:
		return true, d.object(p, m)
	default:
		d.fault(p.expected())
		return false, d.skip()
	}
}

// list reads an array. A faulty element leaves an empty one, so that indexes keep their meaning.
func (d *decoder) list(f *field, o target) error {
	if err := d.open(); err != nil {
		return err
	}
	l := o.newList(f)
	for i := 0; d.json.PeekKind() != jsontext.KindEndArray; i++ {
		if i >= maxElements {
			if err := d.tooMany(i); err != nil {
				return err
			}
			continue
		}
		d.enter(step{index: i, element: true})
		if f.kind == kindMessage {
			child := l.newMessage()
			if _, err := d.message(f.message, child); err != nil {
				return err
			}
			l.appendMessage(child)
		} else {
			v, ok, err := d.scalar(&f.value)
			if err != nil {
				return err
			}
			l.append(v, ok)
		}
		d.leave()
	}
	l.finish()
	_, err := d.json.ReadToken()
	return err
}

// mapping reads an object whose member names are the caller's own.
func (d *decoder) mapping(f *field, o target) error {
	if err := d.open(); err != nil {
		return err
	}
	m := o.newMap(f)
	for i := 0; d.json.PeekKind() != jsontext.KindEndObject; i++ {
		name, err := d.json.ReadValue()
		if err != nil {
			return err
		}
		if i >= maxElements {
			if err := d.tooMany(i); err != nil {
				return err
			}
			continue
		}
		key := string(d.unquote(name))
		d.enter(step{name: key})
		if holdsNUL(key) {
			d.fault(containsNUL)
			err = d.skip()
		} else {
			err = d.entry(f, m, key)
		}
		if err != nil {
			return err
		}
		d.leave()
	}
	m.finish()
	_, err := d.json.ReadToken()
	return err
}

// tooMany passes over element i, which is past what a list or map may hold, and reports the first.
func (d *decoder) tooMany(i int) error {
	if i == maxElements {
		d.fault(containsTooMany)
	}
	return d.skip()
}

func (d *decoder) entry(f *field, m mapTarget, key string) error {
	if f.kind == kindMessage {
		child := m.newMessage()
		ok, err := d.message(f.message, child)
		if ok && err == nil {
			m.set(key, protoreflect.ValueOfMessage(child.message()))
		}
		return err
	}
	v, ok, err := d.scalar(&f.value)
	if ok && err == nil {
		m.set(key, v)
	}
	return err
}

// scalar reads the next value, and reports whether it fits p.
func (d *decoder) scalar(p *value) (v protoreflect.Value, ok bool, err error) {
	k := d.json.PeekKind()
	if !p.accepts(k) {
		d.fault(p.expected())
		return v, false, d.skip()
	}
	raw, err := d.json.ReadValue()
	if err != nil {
		return v, false, err
	}
	v, complaint := d.parse(p, k, raw)
	if complaint != "" {
		d.fault(complaint)
		return v, false, nil
	}
	return v, true, nil
}

// unquote gives the text of a JSON string, valid until the next call.
func (d *decoder) unquote(raw []byte) []byte {
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], raw) // the tokenizer has checked it
	return d.scratch
}
