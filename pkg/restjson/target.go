package restjson

import (
	"reflect"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// target is a message being read into: the Go struct of a direct plan, else the reflected message.
type target struct {
	direct reflect.Value
	pb     protoreflect.Message
}

func targetOf(p *message, pb protoreflect.Message) target {
	if p.direct {
		return target{direct: p.pointed(pb)}
	}
	return target{pb: pb}
}

// fresh makes an empty message of a plan with a Go type.
func fresh(p *message) target {
	v := reflect.New(p.goType)
	if p.direct {
		return target{direct: v.Elem()}
	}
	return target{pb: v.Interface().(proto.Message).ProtoReflect()}
}

func (t target) message() protoreflect.Message {
	if t.pb != nil {
		return t.pb
	}
	return t.direct.Addr().Interface().(proto.Message).ProtoReflect()
}

func (t target) pointer() reflect.Value {
	if t.pb != nil {
		return reflect.ValueOf(t.pb.Interface())
	}
	return t.direct.Addr()
}

// otherMember gives the member of f's oneof that is already set.
func (t target) otherMember(f *field) protoreflect.FieldDescriptor {
	if f.oneof == nil {
		return nil
	}
	return t.pb.WhichOneof(f.oneof)
}

func (t target) set(f *field, v protoreflect.Value) {
	if t.pb != nil {
		t.pb.Set(f.desc, v)
		return
	}
	dst := t.direct.Field(f.index)
	if f.presence == presenceNull && f.behindPointer() {
		if text, ok := dst.Addr().Interface().(**string); ok {
			*text = new(v.String())
			return
		}
		dst.Set(reflect.New(dst.Type().Elem()))
		dst = dst.Elem()
	}
	assign(dst, f.kind, v)
}

// newMessage makes a message for f, which setMessage later puts in its place.
func (t target) newMessage(f *field) target {
	if t.pb != nil {
		return targetOf(f.message, t.pb.NewField(f.desc).Message())
	}
	return fresh(f.message)
}

func (t target) setMessage(f *field, child target) {
	if t.pb != nil {
		t.pb.Set(f.desc, protoreflect.ValueOfMessage(child.message()))
		return
	}
	t.direct.Field(f.index).Set(child.pointer())
}

func (t target) setTimestamp(p *message, seconds int64, nanos int32) {
	if t.pb != nil {
		t.pb.Set(p.fields[0].desc, protoreflect.ValueOfInt64(seconds))
		t.pb.Set(p.fields[1].desc, protoreflect.ValueOfInt32(nanos))
		return
	}
	ts := t.direct.Addr().Interface().(*timestamppb.Timestamp)
	ts.Seconds, ts.Nanos = seconds, nanos
}

// assign stores a scalar in a Go variable of the type that holds its kind.
func assign(dst reflect.Value, k kind, v protoreflect.Value) {
	switch k {
	case kindBool:
		dst.SetBool(v.Bool())
	case kindInt:
		dst.SetInt(v.Int())
	case kindUint:
		dst.SetUint(v.Uint())
	case kindFloat:
		dst.SetFloat(v.Float())
	case kindBytes, kindRaw:
		dst.SetBytes(v.Bytes())
	case kindEnum:
		dst.SetInt(int64(v.Enum()))
	default:
		dst.SetString(v.String())
	}
}
