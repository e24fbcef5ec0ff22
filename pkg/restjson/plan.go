package restjson

import (
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/enumname"
)

// kind is what one JSON value holds.
type kind uint8

const (
	kindBool kind = iota
	kindInt
	kindUint
	kindFloat
	kindString
	kindDecimal
	kindBytes
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
	bits    int // of kindInt, kindUint and kindFloat
	enum    *enumname.Names
	message *message
}

// field is the plan of one field.
type field struct {
	value
	shape    shape
	presence presence
	desc     protoreflect.FieldDescriptor
	oneof    protoreflect.OneofDescriptor // nil outside a real oneof
	name     string                       // JSON name
	key      string                       // `,"name":`
}

// message is the plan of one message type.
type message struct {
	form   form
	fields []field
	byName map[string]*field // those a body may set
}

// otherMember returns the member of f's oneof that is already set in m, nil if there is none.
func (f *field) otherMember(m protoreflect.Message) protoreflect.FieldDescriptor {
	if f.oneof == nil {
		return nil
	}
	return m.WhichOneof(f.oneof)
}

// setTimestamp sets a message that has the plan of a timestamp.
func (p *message) setTimestamp(m protoreflect.Message, seconds int64, nanos int32) {
	m.Set(p.fields[0].desc, protoreflect.ValueOfInt64(seconds))
	m.Set(p.fields[1].desc, protoreflect.ValueOfInt32(nanos))
}

// plans holds an entry per message type, a message or the error that says why it is not supported.
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
