package restjson

import (
	"reflect"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

var messageInterface = reflect.TypeFor[proto.Message]()

// structType is the Go struct that a message of type t points to, or nil.
func structType(t protoreflect.MessageType) reflect.Type {
	goType := reflect.TypeOf(t.Zero().Interface())
	if goType == nil || goType.Kind() != reflect.Pointer || goType.Elem().Kind() != reflect.Struct {
		return nil
	}
	return goType.Elem()
}

// bindStruct finds the exported Go field of every field of m, and reports false when one is
// missing or of another type than the open struct API generates. It sets no index then.
func bindStruct(m *message) bool {
	if m.goType == nil {
		return false
	}
	byNumber := map[protoreflect.FieldNumber]int{}
	for i := range m.goType.NumField() {
		if number, ok := fieldNumber(m.goType.Field(i)); ok {
			byNumber[number] = i
		}
	}
	indexes := make([]int, len(m.fields))
	for i := range m.fields {
		f := &m.fields[i]
		index, ok := byNumber[f.desc.Number()]
		if !ok || f.oneof != nil || !fits(f, m.goType.Field(index).Type) {
			return false
		}
		indexes[i] = index
	}
	for i, index := range indexes {
		m.fields[i].index = index
	}
	return true
}

// fieldNumber reads the number from a tag such as `protobuf:"bytes,4,opt,name=id,proto3"`.
func fieldNumber(f reflect.StructField) (protoreflect.FieldNumber, bool) {
	parts := strings.SplitN(f.Tag.Get("protobuf"), ",", 3)
	if !f.IsExported() || len(parts) < 2 {
		return 0, false
	}
	n, err := strconv.ParseInt(parts[1], 10, 32)
	return protoreflect.FieldNumber(n), err == nil
}

// fits reports whether a Go field of type t holds what the plan f reads from it.
func fits(f *field, t reflect.Type) bool {
	switch {
	case f.shape == shapeMap:
		return t.Kind() == reflect.Map
	case f.shape == shapeList:
		return t.Kind() == reflect.Slice && holds(f.value, t.Elem())
	case f.presence == presenceNull && f.behindPointer():
		return t.Kind() == reflect.Pointer && holds(f.value, t.Elem())
	default:
		return holds(f.value, t)
	}
}

// behindPointer reports whether a Go struct holds an optional value of this kind as a pointer to
// it; nil bytes are unset by themselves, and a message is a pointer anyway.
func (v *value) behindPointer() bool {
	return v.kind != kindBytes && v.kind != kindRaw && v.kind != kindMessage
}

func holds(v value, t reflect.Type) bool {
	switch v.kind {
	case kindBool:
		return t.Kind() == reflect.Bool
	case kindInt:
		return t.Kind() == reflect.Int32 && v.bits == 32 || t.Kind() == reflect.Int64 && v.bits == 64
	case kindUint:
		return t.Kind() == reflect.Uint32 && v.bits == 32 || t.Kind() == reflect.Uint64 && v.bits == 64
	case kindFloat:
		return t.Kind() == reflect.Float32 && v.bits == 32 || t.Kind() == reflect.Float64 && v.bits == 64
	case kindEnum:
		return t.Kind() == reflect.Int32
	case kindString, kindDecimal:
		return t.Kind() == reflect.String
	case kindBytes, kindRaw:
		return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
	default:
		return t.Implements(messageInterface) && t.Kind() == reflect.Pointer && t.Elem() == v.message.goType
	}
}

// pointed gives the struct behind a message of a direct plan.
func (m *message) pointed(pb protoreflect.Message) reflect.Value {
	return reflect.ValueOf(pb.Interface()).Elem()
}
