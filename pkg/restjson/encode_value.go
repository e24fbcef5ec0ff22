package restjson

import (
	"fmt"
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// MarshalValue gives the JSON of whatever a response body can be; see AppendValue.
func MarshalValue(v any) ([]byte, error) {
	return pooled(func(dst []byte) ([]byte, error) { return AppendValue(dst, v) })
}

// AppendList adds the JSON array of a list of messages, enums or scalars to dst; nil is [].
func AppendList[E any](dst []byte, list []E) ([]byte, error) {
	e := encoder{buf: dst}
	e.goList(reflect.ValueOf(list))
	return e.result(len(dst))
}

// AppendValue adds the JSON of a value as it stands in a field of a message: a message, an enum,
// a scalar, bytes, a map of strings, or a list of those (nil is []). A nil pointer is null. Other
// types are an error.
func AppendValue(dst []byte, v any) ([]byte, error) {
	e := encoder{buf: dst}
	e.goValue(reflect.ValueOf(v))
	return e.result(len(dst))
}

func (e *encoder) goList(list reflect.Value) {
	start := len(e.buf)
	for i := range list.Len() {
		e.buf = append(e.buf, ',')
		e.goValue(list.Index(i))
	}
	e.closeArray(start)
}

func (e *encoder) goValue(v reflect.Value) {
	if !v.IsValid() {
		e.null()
		return
	}
	switch known := v.Interface().(type) {
	case nil:
		e.null()
	case proto.Message:
		e.top(known)
	case protoreflect.Enum:
		e.goEnum(v, known)
	case []byte:
		e.base64(known)
	case map[string]string:
		e.texts(known)
	default:
		e.goScalar(v)
	}
}

func (e *encoder) goEnum(v reflect.Value, known protoreflect.Enum) {
	if v.Kind() == reflect.Pointer && v.IsNil() {
		e.null()
		return
	}
	p, err := enumOf(known.Descriptor())
	if err != nil {
		e.fail(err)
		return
	}
	e.enum(p, known.Number())
}

func (e *encoder) goScalar(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		e.bool(v.Bool())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		e.int(v.Int())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		e.uint(v.Uint())
	case reflect.Float32:
		e.float(v.Float(), 32)
	case reflect.Float64:
		e.float(v.Float(), 64)
	case reflect.String:
		e.string(v.String())
	case reflect.Slice:
		e.goList(v)
	case reflect.Pointer, reflect.Interface:
		e.goValue(v.Elem())
	default:
		e.fail(fmt.Errorf("%v is no message, enum, scalar or list of those", v.Type()))
	}
}
