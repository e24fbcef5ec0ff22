package restjson

import (
	"reflect"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// listTarget is a list being read into.
type listTarget struct {
	field  *field
	owner  target
	direct reflect.Value
	pb     protoreflect.List
}

// newList starts the list of f anew.
func (t target) newList(f *field) listTarget {
	if t.pb != nil {
		return listTarget{field: f, owner: t, pb: t.pb.NewField(f.desc).List()}
	}
	l := listTarget{field: f, owner: t, direct: t.direct.Field(f.index)}
	l.direct.SetZero()
	return l
}

// extend adds an empty element to a direct list.
func (l listTarget) extend() reflect.Value {
	n := l.direct.Len()
	l.direct.Grow(1)
	l.direct.SetLen(n + 1)
	return l.direct.Index(n)
}

// append adds v, or the empty value when it is not to be used.
func (l listTarget) append(v protoreflect.Value, use bool) {
	switch {
	case l.pb == nil && use:
		assign(l.extend(), l.field.kind, v)
	case l.pb == nil:
		l.extend().SetZero()
	case use:
		l.pb.Append(v)
	default:
		l.pb.Append(l.pb.NewElement())
	}
}

func (l listTarget) newMessage() target {
	if l.pb != nil {
		return targetOf(l.field.message, l.pb.NewElement().Message())
	}
	return fresh(l.field.message)
}

func (l listTarget) appendMessage(child target) {
	if l.pb != nil {
		l.pb.Append(protoreflect.ValueOfMessage(child.message()))
		return
	}
	l.extend().Set(child.pointer())
}

// finish puts the list in its place.
func (l listTarget) finish() {
	if l.pb != nil {
		l.owner.pb.Set(l.field.desc, protoreflect.ValueOfList(l.pb))
	}
}

// mapTarget is a map being read into: texts for a Go map of strings, else the reflected map.
type mapTarget struct {
	field *field
	owner protoreflect.Message
	texts map[string]string
	pb    protoreflect.Map
}

// newMap starts the map of f anew.
func (t target) newMap(f *field) mapTarget {
	if t.pb == nil {
		if texts, ok := t.direct.Field(f.index).Addr().Interface().(*map[string]string); ok {
			*texts = map[string]string{}
			return mapTarget{texts: *texts}
		}
	}
	owner := t.message()
	return mapTarget{field: f, owner: owner, pb: owner.NewField(f.desc).Map()}
}

func (m mapTarget) newMessage() target { return targetOf(m.field.message, m.pb.NewValue().Message()) }

func (m mapTarget) set(key string, v protoreflect.Value) {
	if m.pb == nil {
		m.texts[key] = v.String()
		return
	}
	m.pb.Set(protoreflect.ValueOfString(key).MapKey(), v)
}

// finish puts the map in its place.
func (m mapTarget) finish() {
	if m.pb != nil {
		m.owner.Set(m.field.desc, protoreflect.ValueOfMap(m.pb))
	}
}
