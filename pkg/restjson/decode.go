package restjson

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
)

// maxElements is how many elements of lists and maps are read of one body; further ones are skipped. It bounds what a body of many
// empty elements takes in memory. 10 MB have room for fewer answers to custom fields, the smallest elements that mean something.
const maxElements = 250_000

// Findings are the violations and the ignored names of a body or a query.
type Findings struct {
	Violations []problem.Violation
	// Ignored names what the message does not have: the paths of the first members, or the sorted names of parameters.
	Ignored []string
}

// Unmarshal reads the JSON object data into m, which should be empty, and reports all violations. Data
// that is empty or white space counts as {}.
func Unmarshal(data []byte, m proto.Message) []problem.Violation {
	return UnmarshalBody(data, m).Violations
}

// UnmarshalBody is Unmarshal for the body of a request. Fields that the path binds are named in bound, by their protobuf names. In
// the body they mean nothing.
func UnmarshalBody(data []byte, m proto.Message, bound ...string) Findings {
	pb := m.ProtoReflect()
	p, err := planOf(pb.Type())
	if err != nil {
		return Findings{Violations: wholeBody("cannot be read: " + err.Error())}
	}
	if len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		return Findings{}
	}
	d := decoder{source: *bytes.NewBuffer(data), bound: bound}
	if !d.structure.read(data) {
		return Findings{Violations: wholeBody(fmt.Sprintf("the body is nested deeper than %d levels", maxDepth))}
	}
	d.json.Reset(&d.source, jsontext.AllowDuplicateNames(true))
	if err := d.body(p, pb); err != nil {
		return Findings{Violations: wholeBody(d.describe(err))}
	}
	if at := d.structure.duplicate(data); at >= 0 {
		return Findings{Violations: wholeBody(fmt.Sprintf("the body has an object with a duplicate member name, at byte %d", at))}
	}
	return d.Findings
}

// decoder reads one body. Its methods return an error when the body is not JSON, which ends the
// reading. All other errors are collected as violations.
type decoder struct {
	json      jsontext.Decoder
	source    bytes.Buffer
	structure structure
	scratch   []byte
	// bound are the names of fields that the path binds.
	bound []string
	collector
}

func (d *decoder) body(p *message, m protoreflect.Message) error {
	if k := d.json.PeekKind(); p.form != formObject || k != jsontext.KindBeginObject && k != jsontext.KindInvalid {
		return errNotObject
	}
	if err := d.object(p, m); err != nil {
		return err
	}
	if _, err := d.json.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.Join(errTrailing, err)
	}
	return nil
}

// skip skips the next value of any kind.
func (d *decoder) skip() error {
	_, err := d.json.ReadValue()
	return err
}

// maxDepth is how many objects and arrays may be nested.
const maxDepth = 100

// structure checks the nesting and the member names of a body. A set of names costs ten times as much as reading a body that
// consists of names, so for each name only a hash of it and of its object's position is stored. The seed is new for every body: a
// caller cannot choose names with equal hashes, and by chance a body of a million names has two in one of forty million cases.
type structure struct {
	seed    maphash.Seed
	hashes  []uint64
	scratch []byte
}

// read returns false if the body is nested too deep. It accepts any bytes: later the decoder refuses what is not JSON.
func (s *structure) read(body []byte) bool {
	s.seed, s.hashes = maphash.MakeSeed(), s.hashes[:0]
	return s.eachName(body, func(_ int, hash uint64) { s.hashes = append(s.hashes, hash) })
}

// duplicate returns the position of a name that its object had before, or -1. It needs what read has stored of the body.
func (s *structure) duplicate(body []byte) (at int) {
	at = -1
	slices.Sort(s.hashes)
	for i := 1; i < len(s.hashes); i++ {
		if s.hashes[i] != s.hashes[i-1] {
			continue
		}
		s.eachName(body, func(position int, hash uint64) {
			if hash == s.hashes[i] {
				at = position
			}
		})
		break
	}
	return at
}

// eachName calls use with the position and the hash of every member name. It returns false if the body is nested too deep.
func (s *structure) eachName(body []byte, use func(position int, hash uint64)) bool {
	var objects [maxDepth + 1]int
	depth := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case '{', '[':
			if depth++; depth > maxDepth {
				return false
			}
			objects[depth] = i
		case '}', ']':
			depth = max(depth-1, 0)
		case '"':
			end := endOfString(body, i)
			if after := bytes.TrimLeft(body[end:], " \t\r\n"); len(after) > 0 && after[0] == ':' {
				use(i, s.hash(body[i:end], objects[depth]))
			}
			i = end - 1
		}
	}
	return true
}

// endOfString returns the position after the string that begins at i, or after the body.
func endOfString(body []byte, i int) int {
	for i++; i < len(body); i++ {
		switch body[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(body)
}

func (s *structure) hash(name []byte, object int) uint64 {
	if bytes.IndexByte(name, '\\') >= 0 {
		s.scratch, _ = jsontext.AppendUnquote(s.scratch[:0], name) // If it is no string, the decoder refuses the body.
		name = s.scratch
	} else {
		name = bytes.Trim(name, `"`)
	}
	// The odd factor spreads positions over all bits.
	return maphash.Bytes(s.seed, name) + uint64(object)*0x9e3779b97f4a7c15 //nolint:gosec // A position is not negative.
}
