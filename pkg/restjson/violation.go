package restjson

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/partnergifting/platform/pkg/problem"
)

// maxViolations bounds the answer to one body; further faults are counted, not kept.
const maxViolations = 1000

// maxKey is how many characters of a map key a path repeats.
const maxKey = 64

var (
	errNotObject = errors.New("not a JSON object")
	errTrailing  = errors.New("something follows the JSON object")
)

// faults collects violations with the path at which they are found.
type faults struct {
	path       []step
	violations []problem.Violation
	count      int
}

// step is one part of a path: a member, or an element of a list.
type step struct {
	name    string
	index   int
	element bool
}

func (s *faults) reset() { *s = faults{path: s.path[:0]} }

func (s *faults) enter(at step) { s.path = append(s.path, at) }

func (s *faults) leave() { s.path = s.path[:len(s.path)-1] }

// fault records that the value at the current path is invalid.
func (s *faults) fault(message string) {
	s.count++
	if len(s.violations) < maxViolations {
		s.violations = append(s.violations, invalid(s.where(), message))
	}
}

// where writes the current path, such as items[0].budget.currency.
func (s *faults) where() string {
	var b strings.Builder
	for i, at := range s.path {
		switch {
		case at.element:
			b.WriteString("[" + strconv.Itoa(at.index) + "]")
		case i > 0:
			b.WriteByte('.')
			fallthrough
		default:
			b.WriteString(presentable(at.name))
		}
	}
	return b.String()
}

// presentable makes a name of the caller's choice fit for an answer: short and printable.
func presentable(name string) string {
	kept := 0
	for i := range name {
		if kept++; kept > maxKey {
			name = name[:i] + "…"
			break
		}
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return unicode.ReplacementChar
		}
		return r
	}, name)
}

func invalid(field, message string) problem.Violation {
	return problem.Violation{Field: field, Code: problem.FieldInvalid, Message: message}
}

func bodyFault(message string) []problem.Violation {
	return []problem.Violation{invalid("", message)}
}

// describe says why a body cannot be read. It repeats nothing of the body.
func (d *decoder) describe(err error) string {
	var syntax *jsontext.SyntacticError
	at := d.json.InputOffset()
	if errors.As(err, &syntax) {
		at = syntax.ByteOffset
	}
	switch {
	case errors.Is(err, errNotObject):
		return "the body must be a JSON object"
	case errors.Is(err, errTooDeep):
		return fmt.Sprintf("the body is nested deeper than %d levels", maxDepth)
	case errors.Is(err, errTrailing):
		return "the body must end after its JSON object"
	case errors.Is(err, jsontext.ErrDuplicateName):
		return fmt.Sprintf("the body has an object with a duplicate member name, at byte %d", at)
	default:
		return fmt.Sprintf("the body is not valid JSON, at byte %d", at)
	}
}
