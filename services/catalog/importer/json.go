package importer

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

var (
	errNoArray  = errors.New("the file must be an array of objects, or one object in a line")
	errTrailing = errors.New("something follows the end of the array")
	// errEndedTooLong is of a line that is too long and was read to its end.
	errEndedTooLong = errors.New("the line has more than 1 MiB")
)

// array reads the objects of a JSON array.
type array struct {
	elements *shortElements
	json     *jsontext.Decoder
	begun    bool
}

// newArray accepts duplicate names and invalid text. They are errors of their row, not of the file.
func newArray(m *meter, from *bufio.Reader) *array {
	elements := &shortElements{meter: m, from: from, lines: &lines{}}
	decoder := jsontext.NewDecoder(elements, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &array{elements: elements, json: decoder}
}

// Next implements Rows.
func (a *array) Next() (Row, error) {
	if !a.begun {
		if token, err := a.json.ReadToken(); err != nil || token.Kind() != '[' {
			return Row{}, a.fileError(err, errNoArray)
		}
		a.begun = true
	}
	if a.json.PeekKind() == ']' {
		return Row{}, a.end()
	}
	value, err := a.json.ReadValue()
	if err != nil {
		return Row{}, a.fileError(err, nil)
	}
	at := a.json.InputOffset() - int64(len(value))
	line := a.elements.lines.at(at)
	if long := a.elements.tooLong; len(long) > 0 && long[0] == at {
		a.elements.tooLong = long[1:]
		return tooLongRow(line), nil
	}
	row := readJSON(value)
	row.Line = line
	return row, nil
}

func (a *array) end() error {
	if _, err := a.json.ReadToken(); err != nil {
		return a.fileError(err, nil)
	}
	if _, err := a.json.ReadToken(); !errors.Is(err, io.EOF) {
		return a.fileError(nil, errTrailing)
	}
	return io.EOF
}

// fileError returns the line where the file stops being JSON.
func (a *array) fileError(err, otherwise error) error {
	at := a.json.InputOffset()
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		at, err = syntax.ByteOffset, syntax.Err
	}
	if known, ok := errors.AsType[*FileError](err); ok {
		return known
	}
	switch {
	case errors.Is(err, errRowTooLong):
		err = errRowTooLong
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = io.ErrUnexpectedEOF
	case err == nil:
		err = otherwise
	}
	return &FileError{Line: a.elements.lines.at(at), Err: err}
}

// ndjson reads one object in a line.
type ndjson struct {
	meter *meter
	from  *bufio.Reader
	line  int
}

// Next implements Rows. It skips empty lines.
func (n *ndjson) Next() (Row, error) {
	for {
		n.meter.row()
		n.line++
		text, err := readLine(n.from)
		switch {
		case errors.Is(err, errEndedTooLong):
			return tooLongRow(n.line), nil
		case errors.Is(err, errRowTooLong):
			return tooLongRow(n.line), n.skipLine()
		case errors.Is(err, io.EOF) && len(text) == 0:
			return Row{}, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return Row{}, &FileError{Line: n.line, Err: err}
		}
		if value := jsontext.Value(text); len(trimSpace(value)) > 0 {
			row := readJSON(value)
			row.Line = n.line
			return row, nil
		}
	}
}

// skipLine skips the rest of a line.
func (n *ndjson) skipLine() error {
	for {
		n.meter.row()
		_, err := n.from.ReadSlice('\n')
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil, errors.Is(err, io.EOF):
			return nil
		default:
			return &FileError{Line: n.line, Err: err}
		}
	}
}

// readLine returns a line. The last one comes with io.EOF if it does not end with a line break.
func readLine(from *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := from.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > MaxRow && errors.Is(err, bufio.ErrBufferFull):
			return nil, errRowTooLong
		case len(line) > MaxRow:
			return nil, errEndedTooLong
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// readJSON reads a gift.
func readJSON(value []byte) Row {
	row := Row{Gift: &catalogv1.PutProductRequest{}, Size: len(value)}
	row.Violations = restjson.Unmarshal(value, row.Gift)
	if len(row.Violations) == 1 && row.Violations[0].Field == "" {
		return row // A value that is not an object has no members.
	}
	unknown, err := unknownMembers(value, row.Gift.ProtoReflect().Descriptor())
	if err != nil {
		row.Violations = append(row.Violations, invalid("", fmt.Sprintf("is not valid JSON: %v", err)))
	}
	row.Violations = append(row.Violations, unknown...)
	return row
}

func trimSpace(value jsontext.Value) jsontext.Value {
	start := 0
	for start < len(value) && (value[start] == ' ' || value[start] == '\t' || value[start] == '\r' || value[start] == '\n') {
		start++
	}
	return value[start:]
}

// unknownMembers finds members of an object that a message does not have. The API ignores them, so that newer callers work. In
// a file they are mistakes: the intended member would become empty.
func unknownMembers(value []byte, message protoreflect.MessageDescriptor) ([]problem.Violation, error) {
	var object any
	if err := json.Unmarshal(value, &object); err != nil {
		return nil, err
	}
	var found []problem.Violation
	walk(object, message, "", func(path string) {
		found = append(found, invalid(path, "is not a member of a gift"))
	})
	slices.SortFunc(found, func(a, b problem.Violation) int { return strings.Compare(a.Field, b.Field) })
	return found, nil
}

// walk reports each unknown member, at any depth.
func walk(value any, message protoreflect.MessageDescriptor, path string, report func(path string)) {
	switch value := value.(type) {
	case []any:
		for i, element := range value {
			walk(element, message, fmt.Sprintf("%s[%d]", path, i), report)
		}
	case map[string]any:
		for name, member := range value {
			at := name
			if path != "" {
				at = path + "." + name
			}
			field := message.Fields().ByJSONName(name)
			if field == nil {
				report(at)
			} else if field.Message() != nil && !field.IsMap() { // A map has any member.
				walk(member, field.Message(), at, report)
			}
		}
	}
}
