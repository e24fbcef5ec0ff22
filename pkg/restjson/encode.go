package restjson

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
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
	// Package time is fast only with its own layouts. This one has nanoseconds, but leaves out zeros at the end.
	micros := time.UnixMicro(seconds*1e6 + int64(nanos)/1e3).UTC()
	e.buf = append(micros.AppendFormat(append(e.buf, '"'), time.RFC3339Nano), '"')
}

// message writes a message.
func (e *encoder) message(p *message, m protoreflect.Message) {
	switch {
	case !m.IsValid():
		e.null()
	case p.form == formTimestamp:
		e.timestamp(m.Get(p.fields[0].desc).Int(), int32(m.Get(p.fields[1].desc).Int())) //nolint:gosec // the field is an int32
	case p.form == formInlineField:
		e.field(&p.fields[0], m)
	case p.form == formInlineOneof:
		e.inlineOneof(p, m)
	default:
		start := len(e.buf)
		for i := range p.fields {
			f := &p.fields[i]
			if f.presence == presenceOmitted && !m.Has(f.desc) {
				continue
			}
			e.buf = append(e.buf, f.key...)
			e.field(f, m)
		}
		e.closeObject(start)
	}
}

func (e *encoder) inlineOneof(p *message, m protoreflect.Message) {
	for i := range p.fields {
		if f := &p.fields[i]; m.Has(f.desc) {
			e.field(f, m)
			return
		}
	}
	e.null()
}

func (e *encoder) field(f *field, m protoreflect.Message) {
	switch {
	case f.presence != presenceNone && !m.Has(f.desc):
		e.null()
	case f.shape == shapeMap:
		e.mapOf(f, m.Get(f.desc).Map())
	case f.shape == shapeList:
		list := m.Get(f.desc).List()
		start := len(e.buf)
		for i := range list.Len() {
			e.buf = append(e.buf, ',')
			e.value(&f.value, list.Get(i))
		}
		e.closeArray(start)
	default:
		e.value(&f.value, m.Get(f.desc))
	}
	e.failIn(f)
}

func (e *encoder) value(p *value, v protoreflect.Value) {
	switch p.kind {
	case kindBool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case kindInt:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case kindString, kindDecimal:
		e.string(v.String())
	case kindRaw:
		e.raw(v.Bytes())
	case kindEnum:
		e.enum(p.enum, v.Enum())
	case kindMessage:
		e.message(p.message, v.Message())
	}
}

// entry is one entry of a map.
type entry struct {
	key   string
	value protoreflect.Value
}

func (e *encoder) mapOf(f *field, m protoreflect.Map) {
	entries := make([]entry, 0, m.Len())
	for key, v := range m.Range {
		entries = append(entries, entry{key.String(), v})
	}
	slices.SortFunc(entries, func(a, b entry) int { return cmp.Compare(a.key, b.key) })
	start := len(e.buf)
	for _, entry := range entries {
		e.buf = append(e.buf, ',')
		e.string(entry.key)
		e.buf = append(e.buf, ':')
		e.value(&f.value, entry.value)
	}
	e.closeObject(start)
}

// closeObject ends an object whose members were written from start on, each after a comma: the
// first comma becomes the brace.
func (e *encoder) closeObject(start int) { e.close(start, '{', '}') }

func (e *encoder) closeArray(start int) { e.close(start, '[', ']') }

func (e *encoder) close(start int, opening, closing byte) {
	if len(e.buf) == start {
		e.buf = append(e.buf, opening)
	} else {
		e.buf[start] = opening
	}
	e.buf = append(e.buf, closing)
}
