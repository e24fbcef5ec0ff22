package restjson

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/enumname"
)

var errNotUTF8 = errors.New("not valid UTF-8")

// Marshal returns the JSON of m. A nil m is null.
func Marshal(m proto.Message) ([]byte, error) { return Marshaler{}.Marshal(m) }

// maxSpare is the size up to which a buffer is kept for the next use. A page of the API is below it. Growing a new one for each
// page takes as long as half of its encoding.
const maxSpare = 256 << 10

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// encode writes a message, or a list of messages, into a pooled buffer, which use may read until it returns.
func encode(v any, use func(written []byte) error) error {
	spare := buffers.Get().(*[]byte)
	e := encoder{buf: (*spare)[:0]}
	e.top(v)
	if cap(e.buf) <= maxSpare {
		*spare = e.buf
		defer buffers.Put(spare)
	}
	if e.err != nil {
		return fmt.Errorf("restjson: %w", e.err)
	}
	return use(e.buf)
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

// string adds s in quotes. Text without escapes, which is nearly all, is copied whole.
func (e *encoder) string(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			buf, err := jsontext.AppendQuote(e.buf, s)
			if err != nil {
				e.fail(errNotUTF8)
			}
			e.buf = buf
			return
		}
	}
	e.buf = append(append(append(e.buf, '"'), s...), '"')
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
