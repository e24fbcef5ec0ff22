package restjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
)

// maxElements is how many elements of lists and maps are read of one body; further ones are skipped. It bounds what a body of many
// empty elements takes in memory. The largest body has room for fewer answers with a UUID, even if all are to be ignored.
const maxElements = 250_000

// Findings are what there is to say about a body that was read.
type Findings struct {
	Violations []problem.Violation
	// Ignored are the paths of the first members that mean nothing to the message.
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
