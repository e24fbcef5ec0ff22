package restjson

import (
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/enumname"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// kind is what one JSON value holds.
type kind uint8

const (
	kindBool kind = iota
	kindInt
	kindString
	kindDecimal
	kindRaw
	kindEnum
	kindMessage
)

// shape is how many values a field holds.
type shape uint8

const (
	shapeSingle shape = iota
	shapeList
	shapeMap
)

// presence is what is written for a field that is not set.
type presence uint8

const (
	presenceNone    presence = iota // cannot be unset
	presenceNull                    // null
	presenceOmitted                 // nothing
)

// form is how a message is written.
type form uint8

const (
	formObject form = iota
	formTimestamp
	formInlineField
	formInlineOneof
)

// value is the plan of one JSON value: a single field, a list element or a map's value.
type value struct {
	kind    kind
	bits    int // of kindInt
	enum    *enumname.Names
	message *message
}

// field is the plan of one field.
type field struct {
	value
	shape    shape
	presence presence
	desc     protoreflect.FieldDescriptor
	name     string // JSON name
	key      string // `,"name":`
}

// message is the plan of one message type.
type message struct {
	form   form
	fields []field
	byName map[string]*field // those a body may set
}

// setTimestamp sets a message that has the plan of a timestamp.
func (p *message) setTimestamp(m protoreflect.Message, seconds int64, nanos int32) {
	m.Set(p.fields[0].desc, protoreflect.ValueOfInt64(seconds))
	m.Set(p.fields[1].desc, protoreflect.ValueOfInt32(nanos))
}

// plans caches for each message type its plan, or the error that says why it is not supported.
var plans sync.Map // protoreflect.MessageType → planned

type planned struct {
	message *message
	err     error
}

// planOf returns the plan of a message type. The first call makes it.
func planOf(t protoreflect.MessageType) (*message, error) {
	if p, ok := plans.Load(t); ok {
		p := p.(planned)
		return p.message, p.err
	}
	b := builder{done: map[protoreflect.MessageType]*message{}}
	m, err := b.message(t)
	p, _ := plans.LoadOrStore(t, planned{message: m, err: err})
	return p.(planned).message, p.(planned).err
}

// builder makes the plans of a message and of all messages in it; done breaks cycles.
type builder struct {
	done map[protoreflect.MessageType]*message
}

func (b *builder) message(t protoreflect.MessageType) (*message, error) {
	if m, ok := b.done[t]; ok {
		return m, nil
	}
	desc := t.Descriptor()
	if err := checkSupported(desc); err != nil {
		return nil, err
	}
	m := &message{}
	b.done[t] = m
	fields := desc.Fields()
	m.fields = make([]field, fields.Len())
	m.byName = make(map[string]*field, fields.Len())
	for i := range m.fields {
		f := &m.fields[i]
		if err := b.field(f, t, fields.Get(i)); err != nil {
			return nil, err
		}
		if f.kind != kindRaw {
			m.byName[f.name] = f
		}
	}
	var err error
	m.form, err = formOf(desc)
	return m, err
}

func (b *builder) field(f *field, t protoreflect.MessageType, fd protoreflect.FieldDescriptor) error {
	f.desc, f.name = fd, fd.JSONName()
	key, err := jsontext.AppendQuote([]byte{','}, f.name)
	if err != nil {
		return fmt.Errorf("%s: %w", fd.FullName(), err)
	}
	f.key = string(append(key, ':'))
	values := fd
	switch {
	case fd.IsMap():
		f.shape, values = shapeMap, fd.MapValue()
		if fd.MapKey().Kind() != protoreflect.StringKind {
			return fmt.Errorf("%s: map keys other than strings are not supported", fd.FullName())
		}
	case fd.IsList():
		f.shape = shapeList
	case fd.ContainingOneof() != nil && !fd.ContainingOneof().IsSynthetic():
		f.presence = presenceOmitted
	case fd.HasPresence():
		f.presence = presenceNull
	}
	f.value, err = b.value(t, fd, values)
	return err
}

// value plans what a field holds: fd is the field, values describes its values.
func (b *builder) value(t protoreflect.MessageType, fd, values protoreflect.FieldDescriptor) (value, error) {
	options := fd.Options()
	switch values.Kind() {
	case protoreflect.BoolKind:
		return value{kind: kindBool}, nil
	case protoreflect.Int32Kind:
		return value{kind: kindInt, bits: 32}, nil
	case protoreflect.Int64Kind:
		return value{kind: kindInt, bits: 64}, nil
	case protoreflect.StringKind:
		if flag(options, commonv1.E_Decimal) {
			return value{kind: kindDecimal}, nil
		}
		return value{kind: kindString}, nil
	case protoreflect.BytesKind:
		if flag(options, commonv1.E_RawJson) {
			return value{kind: kindRaw}, nil
		}
	case protoreflect.EnumKind:
		return value{kind: kindEnum, enum: enumname.Of(values.Enum())}, nil
	case protoreflect.MessageKind:
		m, err := b.message(valueType(t, fd))
		return value{kind: kindMessage, message: m}, err
	default:
	}
	return value{}, fmt.Errorf("%s: %v fields are not supported", fd.FullName(), values.Kind())
}

// valueType is the type of the messages that field fd of a message of type t holds.
func valueType(t protoreflect.MessageType, fd protoreflect.FieldDescriptor) protoreflect.MessageType {
	empty := t.New().NewField(fd)
	switch {
	case fd.IsMap():
		return empty.Map().NewValue().Message().Type()
	case fd.IsList():
		return empty.List().NewElement().Message().Type()
	default:
		return empty.Message().Type()
	}
}

func formOf(desc protoreflect.MessageDescriptor) (form, error) {
	if desc.FullName() == timestampName {
		return formTimestamp, nil
	}
	if !flag(desc.Options(), commonv1.E_Inline) {
		return formObject, nil
	}
	fields, oneofs := desc.Fields(), desc.Oneofs()
	switch {
	case fields.Len() == 1 && oneofs.Len() == 0:
		return formInlineField, nil
	case oneofs.Len() == 1 && !oneofs.Get(0).IsSynthetic() && oneofs.Get(0).Fields().Len() == fields.Len():
		return formInlineOneof, nil
	default:
		return 0, fmt.Errorf("%s: an inline message has one field, or one oneof and nothing else", desc.FullName())
	}
}

// flag reads a boolean option; absent is false.
func flag(options proto.Message, option protoreflect.ExtensionType) bool {
	on, _ := proto.GetExtension(options, option).(bool)
	return on
}

const timestampName protoreflect.FullName = "google.protobuf.Timestamp"

// checkSupported refuses the other well-known types, because the JSON of most is not an object of their fields.
func checkSupported(desc protoreflect.MessageDescriptor) error {
	if desc.FullName().Parent() == timestampName.Parent() && desc.FullName() != timestampName {
		return fmt.Errorf("%s is not supported", desc.FullName())
	}
	return nil
}
