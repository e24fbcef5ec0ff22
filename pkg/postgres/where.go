package postgres

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Where builds a WHERE clause whose conditions depend on the request, with numbered placeholders. Each combination of
// conditions is a statement with a plan of its own. Its zero value has no condition.
type Where struct {
	conditions []string
	args       []any
}

// And adds a condition. Each ? in it becomes the placeholder of the next value. A condition is a constant of the program; input
// of callers is passed only as values.
func (w *Where) And(condition string, values ...any) {
	parts := strings.Split(condition, "?")
	if len(parts) != len(values)+1 {
		panic(fmt.Sprintf("postgres: %q does not take %d values", condition, len(values)))
	}
	var b strings.Builder
	for i, v := range values {
		b.WriteString(parts[i] + w.Arg(v))
	}
	w.conditions = append(w.conditions, b.String()+parts[len(values)])
}

// Equal adds the condition that the column has the value, unless the value is nil. No column has a text that PostgreSQL refuses.
func (w *Where) Equal(column string, value *string) {
	if value != nil && (!utf8.ValidString(*value) || strings.Contains(*value, "\x00")) {
		w.And("false")
		return
	}
	Equal(w, column, value)
}

// Equal is the method Equal for values of any type.
func Equal[T any](w *Where, column string, value *T) {
	if value != nil {
		w.And(column+" = ?", *value)
	}
}

// Arg adds an argument that is not part of a condition, such as a limit, and returns its placeholder.
func (w *Where) Arg(value any) string {
	w.args = append(w.args, value)
	return fmt.Sprintf("$%d", len(w.args))
}

// SQL returns the conditions joined by AND; without any it is true.
func (w *Where) SQL() string {
	if len(w.conditions) == 0 {
		return "true"
	}
	return strings.Join(w.conditions, " AND ")
}

// Args returns the arguments in the order of their placeholders.
func (w *Where) Args() []any { return w.args }
