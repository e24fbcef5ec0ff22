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

// maxViolations bounds the answer to one body. Further violations are only counted.
const maxViolations = 1000

// maxIgnored is how many ignored members are named.
const maxIgnored = 20

// maxNameLength is how many characters of a name from the body a path repeats.
const maxNameLength = 64

var (
	errNotObject = errors.New("not a JSON object")
	errTrailing  = errors.New("something follows the JSON object")
)

// collector collects findings with the paths at which they are found. It counts all violations.
type collector struct {
	Findings

	path           []step
	violationCount int
	// elementCount is the number of elements of lists and maps that were read.
	elementCount int
}

// step is one part of a path: a member, or an element of a list.
type step struct {
	name    string
	index   int
	element bool
}

func (c *collector) enter(at step) { c.path = append(c.path, at) }

func (c *collector) leave() { c.path = c.path[:len(c.path)-1] }

// violation records that the value at the current path is invalid.
func (c *collector) violation(message string) {
	c.violationCount++
	if len(c.Violations) < maxViolations {
		c.Violations = append(c.Violations, invalid(c.currentPath(), message))
	}
}

// ignore records that the member of that name means nothing at the current path.
func (c *collector) ignore(name []byte) {
	if len(c.Ignored) < maxIgnored {
		c.enter(step{name: string(name)})
		c.Ignored = append(c.Ignored, c.currentPath())
		c.leave()
	}
}

// currentPath returns the current path, such as items[0].budget.currency.
func (c *collector) currentPath() string {
	var b strings.Builder
	for i, at := range c.path {
		switch {
		case at.element:
			b.WriteString("[" + strconv.Itoa(at.index) + "]")
		case i > 0:
			b.WriteByte('.')
			fallthrough
		default:
			b.WriteString(printableName(at.name))
		}
	}
	return b.String()
}

// printableName returns a name from the body without control characters, cut to maxNameLength characters.
func printableName(name string) string {
	characters := 0
	for i := range name {
		if characters++; characters > maxNameLength {
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

func wholeBody(message string) []problem.Violation {
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
	case errors.Is(err, errTrailing):
		return "the body must end after its JSON object"
	default:
		return fmt.Sprintf("the body is not valid JSON, at byte %d", at)
	}
}
