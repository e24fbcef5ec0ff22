package restjson

import (
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/enumname"
)

var errNotUTF8 = errors.New("not valid UTF-8")

// Marshal returns the JSON of m. A nil m is null.
func Marshal(m proto.Message) ([]byte, error) { return encode(m) }

// encode returns the JSON of a message or of a list of messages.
func encode(v any) ([]byte, error) {
	const usualSize = 1 << 10
	e := encoder{buf: make([]byte, 0, usualSize)}
	e.top(v)
	if e.err != nil {
		return nil, fmt.Errorf("restjson: %w", e.err)
	}
	return e.buf, nil
}

// encoder writes JSON to buf. After the first error, what it writes is not used.
type encoder struct {
	buf   []byte
	err   error
	named bool // err says in which field it arose
}

// fail keeps the first error.
func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// failIn adds the field to an error that arose in it.
func (e *encoder) failIn(f *field) {
	if e.err != nil && !e.named {
		e.err, e.named = fmt.Errorf("%s: %w", f.desc.FullName(), e.err), true
	}
}

func (e *encoder) top(v any) {
	switch v := v.(type) {
	case nil:
		e.null()
	case proto.Message:
		e.topMessage(v)
	default:
		e.topList(reflect.ValueOf(v))
	}
}

func (e *encoder) topMessage(m proto.Message) {
	pb := m.ProtoReflect()
	p, err := planOf(pb.Type())
	if err != nil {
		e.fail(err)
		e.named = true
		return
	}
	e.message(p, pb)
}

func (e *encoder) topList(list reflect.Value) {
	if list.Kind() != reflect.Slice || !list.Type().Elem().Implements(reflect.TypeFor[proto.Message]()) {
		e.fail(fmt.Errorf("%v is not a message or a list of messages", list.Type()))
		return
	}
	start := len(e.buf)
	for i := range list.Len() {
		e.buf = append(e.buf, ',')
		e.top(list.Index(i).Interface())
	}
	e.closeArray(start)
}

func (e *encoder) null() { e.buf = append(e.buf, "null"...) }

func (e *encoder) string(s string) {
	buf, err := jsontext.AppendQuote(e.buf, s)
	if err != nil {
		e.fail(errNotUTF8)
	}
	e.buf = buf
}

func (e *encoder) raw(b []byte) {
	switch {
	case len(b) == 0:
		e.null()
	case !utf8.Valid(b):
		e.fail(errNotUTF8)
	default:
		e.buf = append(e.buf, b...)
	}
}

func (e *encoder) enum(names *enumname.Names, n protoreflect.EnumNumber) {
	name, ok := names.Name(n)
	if !ok {
		e.null()
		return
	}
	e.string(name)
}

func (e *encoder) timestamp(seconds int64, nanos int32) {
	if seconds < minSeconds || seconds > maxSeconds || nanos < 0 || nanos >= int32(time.Second) {
		e.fail(errTimestampRange)
		return
	}
	e.buf = time.Unix(seconds, int64(nanos)).UTC().AppendFormat(e.buf, `"2006-01-02T15:04:05.999999Z"`)
}
