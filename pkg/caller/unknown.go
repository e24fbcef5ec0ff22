package caller

import (
	"fmt"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// UnknownError is the error of a request with a part that this program does not know. The caller is newer, and wants an effect that
// this program does not have. What names the part, without its value.
type UnknownError struct{ What string }

// Error implements error.
func (e *UnknownError) Error() string { return e.What + " is unknown to this version" }

// CheckKnown returns an *UnknownError if the message, or one inside it, has a field that this program does not know.
func CheckKnown(m proto.Message) error {
	if unread := findUnknown(m.ProtoReflect()); unread != nil {
		return unread
	}
	return nil
}

func findUnknown(m protoreflect.Message) *UnknownError {
	if raw := m.GetUnknown(); len(raw) > 0 {
		number, _, _ := protowire.ConsumeTag(raw)
		return &UnknownError{What: fmt.Sprintf("field %d of %s", number, m.Descriptor().FullName())}
	}
	for _, field := range nesting(m.Descriptor()) {
		if !m.Has(field) {
			continue
		}
		if unread := findUnknownIn(m.Get(field), field); unread != nil {
			return unread
		}
	}
	return nil
}

// findUnknownIn looks into the value of a field that nesting returned.
func findUnknownIn(value protoreflect.Value, field protoreflect.FieldDescriptor) (unread *UnknownError) {
	switch {
	case field.IsMap():
		value.Map().Range(func(_ protoreflect.MapKey, one protoreflect.Value) bool {
			unread = findUnknown(one.Message())
			return unread == nil
		})
		return unread
	case field.IsList():
		list := value.List()
		for i := 0; i < list.Len() && unread == nil; i++ {
			unread = findUnknown(list.Get(i).Message())
		}
		return unread
	default:
		return findUnknown(value.Message())
	}
}

// nested are the fields of a message whose values are messages, by its descriptor. Those of most messages are few or none, and
// the others need no look.
var nested sync.Map

func nesting(of protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := nested.Load(of); ok {
		return known.([]protoreflect.FieldDescriptor) //nolint:forcetypeassert // Only such values are stored.
	}
	var fields []protoreflect.FieldDescriptor
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		if field.IsMap() && field.MapValue().Message() != nil || !field.IsMap() && field.Message() != nil {
			fields = append(fields, field)
		}
	}
	nested.Store(of, fields)
	return fields
}
