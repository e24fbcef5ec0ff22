package giftsite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/partnergifting/platform/pkg/problem"
)

// fault is one thing to put right. Field is the name of an input, or empty for what belongs to
// none.
type fault struct {
	Field string
	Text  string
	Href  string
}

// fieldChoices stands for the choice of a gift's variations among the fields of faults.
const fieldChoices = "choices"

// fieldFaults says in the player's language what the service found, in the order of the page. What
// is wrong with the choice stands in its groups.
func fieldFaults(t *texts, violations []problem.Violation) []fault {
	found := map[string]fault{}
	for _, v := range violations {
		field := fieldOf(v.Field)
		if _, ok := found[field]; !ok && field != fieldChoices {
			found[field] = fault{Field: field, Text: t.fault(field, v.Code), Href: hrefOf(field)}
		}
	}
	var out []fault
	for _, field := range fieldOrder {
		if f, ok := found[field]; ok {
			out = append(out, f)
		}
	}
	return out
}

func hrefOf(field string) string {
	if field == "" {
		return ""
	}
	return "#" + field
}

// fieldOrder begins with what belongs to no field.
var fieldOrder = func() []string {
	order := []string{""}
	for _, in := range inputs {
		order = append(order, in.ID)
	}
	return order
}()

// fieldOf gives the input a path such as recipient.address.postalCode is about.
func fieldOf(path string) string {
	if path == "productId" || strings.HasPrefix(path, "variations") {
		return fieldChoices
	}
	name := path[strings.LastIndexByte(path, '.')+1:]
	if slices.Contains(fieldOrder, name) {
		return name
	}
	return ""
}

// fault words a field code. What has no words of its own is said in general.
func (t *texts) fault(field, code string) string {
	key := "error." + field + "." + code
	switch {
	case field == "":
		return t.T("problem.again")
	case t.Has(key):
		return t.T(key, "example", t.T("phone.example"))
	case field == fieldCountry:
		return t.T("error.country.invalid")
	case code == problem.FieldTooLong:
		return t.T("error.too_long", "field", t.T(field), "limit", strconv.Itoa(limitOf(field)))
	default:
		return t.T("error.invalid", "field", t.T(field))
	}
}

func limitOf(field string) int {
	for _, in := range inputs {
		if in.ID == field {
			return in.Limit
		}
	}
	return 0
}

// unreadable are the faults of texts that are none.
func unreadable(t *texts, fields []string) []fault {
	violations := make([]problem.Violation, 0, len(fields))
	for _, field := range fields {
		violations = append(violations, problem.Violation{Field: field, Code: problem.FieldInvalid})
	}
	return fieldFaults(t, violations)
}
