package restjson

import (
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// directMessage writes a message that is the Go struct v.
func (e *encoder) directMessage(p *message, v reflect.Value) {
	switch p.form {
	case formTimestamp:
		ts := v.Addr().Interface().(*timestamppb.Timestamp)
		e.timestamp(ts.GetSeconds(), ts.GetNanos())
	case formInlineField:
		e.directField(&p.fields[0], v)
	default: // a message with a oneof is never direct
		start := len(e.buf)
		for i := range p.fields {
			f := &p.fields[i]
			e.buf = append(e.buf, f.key...)
			e.directField(f, v)
		}
		e.closeObject(start)
	}
}

func (e *encoder) directField(f *field, message reflect.Value) {
	v := message.Field(f.index)
	switch {
	case f.shape == shapeMap:
		e.directMap(f, v, message)
	case f.shape == shapeList:
		e.directList(f, v)
	case f.presence == presenceNull && f.kind != kindMessage && v.IsNil():
		e.null()
	case f.presence == presenceNull && f.behindPointer():
		e.directValue(&f.value, v.Elem())
	default:
		e.directValue(&f.value, v)
	}
	e.failIn(f)
}

func (e *encoder) directList(f *field, v reflect.Value) {
	start := len(e.buf)
	for i := range v.Len() {
		e.buf = append(e.buf, ',')
		e.directValue(&f.value, v.Index(i))
	}
	e.closeArray(start)
}

func (e *encoder) directMap(f *field, v, message reflect.Value) {
	if texts, ok := v.Interface().(map[string]string); ok {
		e.texts(texts)
		return
	}
	pb := message.Addr().Interface().(proto.Message).ProtoReflect()
	e.mapOf(f, pb.Get(f.desc).Map())
}

func (e *encoder) directValue(p *value, v reflect.Value) {
	switch p.kind {
	case kindBool:
		e.bool(v.Bool())
	case kindInt:
		e.int(v.Int())
	case kindUint:
		e.uint(v.Uint())
	case kindFloat:
		e.float(v.Float(), p.bits)
	case kindString, kindDecimal:
		e.string(v.String())
	case kindBytes:
		e.base64(v.Bytes())
	case kindRaw:
		e.raw(v.Bytes())
	case kindEnum:
		e.enum(p.enum, protoreflect.EnumNumber(v.Int())) //nolint:gosec // enums are int32
	case kindMessage:
		switch {
		case v.IsNil():
			e.null()
		case p.message.direct:
			e.directMessage(p.message, v.Elem())
		default:
			e.message(p.message, v.Interface().(proto.Message).ProtoReflect())
		}
	}
}
