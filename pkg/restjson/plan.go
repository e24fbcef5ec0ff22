package restjson

import (
	"reflect"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
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

// presence is what stands in the JSON for a field that is not set.
type presence uint8

const (
	presenceNone    presence = iota // cannot be unset
	presenceNull                    // null
	presenceOmitted                 // nothing
)

// form is how a message stands in the JSON.
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
	enum    *enum
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
	index    int                          // of the Go struct's field, when the message is direct
}

// message is the plan of one message type.
type message struct {
	form   form
	fields []field
	byName map[string]*field // those a body may set
	// direct: a pointer to goType is the message, and every field is one of its exported fields.
	direct bool
	goType reflect.Type
}

// plans holds an entry per message type, a message or the error that says why there is none.
var plans sync.Map // protoreflect.MessageType → planned

type planned struct {
	message *message
	err     error
}

// planOf gives the plan of a message type, made at the first call.
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
