package giftsite

import (
	"slices"
	"strconv"
	"strings"

	"github.com/partnergifting/platform/pkg/problem"
)

// formError is one error in the form. Field is the name of an input; empty: the error belongs to no input.
type formError struct {
	Field string
	Text  string
	Href  string
}

// fieldChoices is the field of errors in the choice of variations.
const fieldChoices = "choices"

// formErrors translates violations, in the order of the page. Errors in the choice are shown at its groups instead.
func (t *texts) formErrors(violations []problem.Violation) []formError {
	found := map[string]formError{}
	for _, v := range violations {
		field := fieldOf(v.Field)
		if _, ok := found[field]; !ok && field != fieldChoices {
			e := formError{Field: field, Text: t.fieldError(field, v.Code)}
			if field != "" {
				e.Href = "#" + field
			}
			found[field] = e
		}
	}
	var errs []formError
	for _, field := range fieldOrder {
		if e, ok := found[field]; ok {
			errs = append(errs, e)
		}
	}
	return errs
}

// fieldOrder begins with the errors that belong to no field.
var fieldOrder = func() []string {
	order := []string{""}
	for _, in := range inputs {
		order = append(order, in.ID)
	}
	return order
}()

// fieldOf returns the input that a path such as recipient.address.postalCode is about.
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

// fieldError returns the text of an error code at a field, a general one if the code has none there.
func (t *texts) fieldError(field, code string) string {
	key := "error." + field + "." + code
	switch {
	case field == "":
		return t.T("problem.again")
	case t.Has(key):
		return t.T(key, "example", t.T("phone.example"))
	case field == fieldCountry:
		return t.T("error.country.invalid")
	case code == problem.FieldTooLong:
		return t.T("error.too_long", "field", t.T(field), "limit", strconv.Itoa(maxLength(field)))
	default:
		return t.T("error.invalid", "field", t.T(field))
	}
}

func maxLength(field string) int {
	i := slices.IndexFunc(inputs, func(in input) bool { return in.ID == field })
	if i < 0 {
		return 0
	}
	return inputs[i].MaxLength
}

// invalidText are the errors of inputs that are not valid text.
func (t *texts) invalidText(fields []string) []formError {
	violations := make([]problem.Violation, 0, len(fields))
	for _, field := range fields {
		violations = append(violations, problem.Violation{Field: field, Code: problem.FieldInvalid})
	}
	return t.formErrors(violations)
}
