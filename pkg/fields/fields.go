// Package fields collects the field errors of one request, so that one response lists all of them (API specification, section
// Errors). It has the one rule for each kind of value that people and programs enter: texts, e-mail addresses, URLs, countries,
// currencies, locales, variations, custom fields and what a brand sets on its gift site.
package fields

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/partnergifting/platform/pkg/problem"
)

const (
	// maxViolations bounds what one response lists: a body of a few hundred kilobytes can have a hundred thousand errors.
	maxViolations = 1000
	// maxPath bounds a path, because it contains map keys that the caller chose.
	maxPath = 200
)

// Errors gathers violations. A path that already has one takes no second: a field of the wrong type is not reported as missing too.
type Errors struct {
	list []problem.Violation
	seen map[string]struct{}
}

// Add records a violation.
func (e *Errors) Add(field, code, message string) {
	field = shortened(field)
	if len(e.list) >= maxViolations || e.Has(field) {
		return
	}
	if e.seen == nil {
		e.seen = map[string]struct{}{}
	}
	e.seen[field] = struct{}{}
	e.list = append(e.list, problem.Violation{Field: field, Code: code, Message: message})
}

// AddAll records violations that another program has found, such as the edge.
func (e *Errors) AddAll(violations []problem.Violation) {
	for _, v := range violations {
		e.Add(v.Field, v.Code, v.Message)
	}
}

// Has reports whether the path, or a field it is part of, has a violation. The whole body counts as part of every path.
func (e *Errors) Has(field string) bool {
	if _, whole := e.seen[""]; whole {
		return true
	}
	for {
		if _, ok := e.seen[field]; ok {
			return true
		}
		i := strings.LastIndexAny(field, ".[")
		if i < 0 {
			return false
		}
		field = field[:i]
	}
}

// Touches reports whether the path, a field it is part of, or a part of it has a violation.
func (e *Errors) Touches(field string) bool {
	return e.Has(field) || slices.ContainsFunc(e.list, func(v problem.Violation) bool {
		below, ok := strings.CutPrefix(v.Field, field)
		return ok && (strings.HasPrefix(below, ".") || strings.HasPrefix(below, "["))
	})
}

// List returns the violations in the order they were found.
func (e *Errors) List() []problem.Violation { return e.list }

// Err is nil without violations, else the invalid_request that lists them.
func (e *Errors) Err() error {
	if len(e.list) == 0 {
		return nil
	}
	return problem.Invalid(e.list...)
}

// UUID demands the canonical form of a UUID and returns it in lower case.
func (e *Errors) UUID(field, value string) string {
	id, ok := ParseUUID(value)
	if !ok {
		e.Add(field, problem.FieldInvalid, "must be a UUID")
	}
	return id
}

// RequiredUUID is UUID that reports a blank value as missing.
func (e *Errors) RequiredUUID(field, value string) string {
	if e.require(field, value); Blank(value) {
		return ""
	}
	return e.UUID(field, value)
}

// OptionalUUID is UUID for a value that may be nil.
func (e *Errors) OptionalUUID(field string, value *string) *string {
	if value == nil {
		return nil
	}
	id := e.UUID(field, *value)
	return &id
}

// UUIDs is UUID for each of the values, of which there may be most.
func (e *Errors) UUIDs(field string, values []string, most int) []string {
	if len(values) > most {
		e.Add(field, problem.FieldInvalid, fmt.Sprintf("must hold at most %d ids", most))
		return nil
	}
	ids := make([]string, len(values))
	for i, value := range values {
		ids[i] = e.UUID(field, value)
	}
	return ids
}

func shortened(path string) string {
	if len(path) <= maxPath {
		return path
	}
	return strings.ToValidUTF8(path[:maxPath], "") + "…"
}

// ParseUUID reads the 36-character form only and returns it in lower case.
func ParseUUID(s string) (string, bool) {
	const canonicalLen = 36
	if len(s) != canonicalLen {
		return "", false
	}
	id, err := uuid.Parse(s)
	if err != nil {
		return "", false
	}
	return id.String(), true
}
