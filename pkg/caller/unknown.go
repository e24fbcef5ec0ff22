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
	if unknown := findUnknown(m.ProtoReflect()); unknown != nil {
		return unknown
	}
	return nil
}

func findUnknown(m protoreflect.Message) *UnknownError {
	if raw := m.GetUnknown(); len(raw) > 0 {
		number, _, _ := protowire.ConsumeTag(raw)
		return &UnknownError{What: fmt.Sprintf("field %d of %s", number, m.Descriptor().FullName())}
	}
	for _, field := range messageFields(m.Descriptor()) {
		if !m.Has(field) {
			continue
		}
		if unknown := findUnknownIn(m.Get(field), field); unknown != nil {
			return unknown
		}
	}
	return nil
}

// findUnknownIn looks into the value of a field that messageFields has returned.
func findUnknownIn(value protoreflect.Value, field protoreflect.FieldDescriptor) (unknown *UnknownError) {
	switch {
	case field.IsMap():
		value.Map().Range(func(_ protoreflect.MapKey, one protoreflect.Value) bool {
			unknown = findUnknown(one.Message())
			return unknown == nil
		})
		return unknown
	case field.IsList():
		list := value.List()
		for i := 0; i < list.Len() && unknown == nil; i++ {
			unknown = findUnknown(list.Get(i).Message())
		}
		return unknown
	default:
		return findUnknown(value.Message())
	}
}

// messageFieldsCache has what messageFields found for each descriptor.
var messageFieldsCache sync.Map

// messageFields returns the fields whose values are messages, because only these need a look. Most messages have few or none.
func messageFields(of protoreflect.MessageDescriptor) []protoreflect.FieldDescriptor {
	if known, ok := messageFieldsCache.Load(of); ok {
		return known.([]protoreflect.FieldDescriptor) //nolint:forcetypeassert // Only such values are stored.
	}
	var fields []protoreflect.FieldDescriptor
	for i := range of.Fields().Len() {
		field := of.Fields().Get(i)
		if field.IsMap() && field.MapValue().Message() != nil || !field.IsMap() && field.Message() != nil {
			fields = append(fields, field)
		}
	}
	messageFieldsCache.Store(of, fields)
	return fields
}
