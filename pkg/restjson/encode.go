package restjson

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

var (
	errNotUTF8 = errors.New("not valid UTF-8")
	errNotReal = errors.New("NaN and infinity have no JSON")
)

// Marshal gives the JSON of m. A nil m is null.
func Marshal(m proto.Message) ([]byte, error) {
	return pooled(func(dst []byte) ([]byte, error) { return Append(dst, m) })
}

// Append adds the JSON of m to dst. On an error it gives dst back as it was.
func Append(dst []byte, m proto.Message) ([]byte, error) {
	e := encoder{buf: dst}
	e.top(m)
	return e.result(len(dst))
}

// pooled runs write on a spare buffer and gives a copy of just the right size.
func pooled(write func(dst []byte) ([]byte, error)) ([]byte, error) {
	spare := takeBuffer()
	defer spare.release()
	out, err := write(spare.AvailableBuffer())
	if err != nil {
		return nil, err
	}
	spare.keep(out)
	return bytes.Clone(out), nil
}

// encoder writes JSON to buf until the first error, after which what it writes is void. Its methods
// append to buf in place: while the garbage collector runs, assigning another slice costs more.
type encoder struct {
	buf   []byte
	err   error
	named bool // err says in which field it arose
}

func (e *encoder) result(start int) ([]byte, error) {
	if e.err != nil {
		return e.buf[:start], fmt.Errorf("restjson: %w", e.err)
	}
	return e.buf, nil
}

// fail keeps the first error.
func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// failIn names the field that has just been written as the place of the error, if there is one.
func (e *encoder) failIn(f *field) {
	if e.err != nil && !e.named {
		e.err, e.named = fmt.Errorf("%s: %w", f.desc.FullName(), e.err), true
	}
}

func (e *encoder) top(m proto.Message) {
	if m == nil {
		e.null()
		return
	}
	pb := m.ProtoReflect()
	p, err := planOf(pb.Type())
	if err != nil {
		e.fail(err)
		e.named = true
		return
	}
	e.message(p, pb)
}

func (e *encoder) null() { e.buf = append(e.buf, "null"...) }

func (e *encoder) bool(v bool) { e.buf = strconv.AppendBool(e.buf, v) }

func (e *encoder) int(v int64) {
	var digits [20]byte
	e.buf = append(e.buf, strconv.AppendInt(digits[:0], v, 10)...)
}

func (e *encoder) uint(v uint64) {
	var digits [20]byte
	e.buf = append(e.buf, strconv.AppendUint(digits[:0], v, 10)...)
}

func (e *encoder) float(v float64, bits int) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		e.fail(errNotReal)
		return
	}
	e.buf = jsontext.AppendFloat(e.buf, v, bits)
}

// string adds s in quotes. Text that needs no escape, nearly all there is, is copied whole.
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
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, s...)
	e.buf = append(e.buf, '"')
}

func (e *encoder) base64(b []byte) {
	e.buf = append(e.buf, '"')
	e.buf = base64.StdEncoding.AppendEncode(e.buf, b)
	e.buf = append(e.buf, '"')
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

func (e *encoder) enum(p *enum, n protoreflect.EnumNumber) {
	if quoted, ok := p.quoted[n]; ok {
		e.buf = append(e.buf, quoted...)
		return
	}
	e.null()
}

func (e *encoder) timestamp(seconds int64, nanos int32) {
	var room [len(`"2006-01-02T15:04:05.999999Z"`)]byte
	text, err := appendTimestamp(room[:0], seconds, nanos)
	if err != nil {
		e.fail(err)
	}
	e.buf = append(e.buf, text...)
}
