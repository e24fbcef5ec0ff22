package fields

import (
	"fmt"
	"slices"

	"golang.org/x/text/unicode/norm"

	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// MaxCustomFieldText is the length of a text in Unicode code points (API specification, section Limits).
const MaxCustomFieldText = 2000

// CustomFieldAnswer is an answer to a custom field, in the form in which services seal it.
type CustomFieldAnswer struct {
	FieldID string  `json:"fieldId"`
	Text    *string `json:"text,omitempty"`
	Checked *bool   `json:"checked,omitempty"`
}

func (a CustomFieldAnswer) text() string {
	if a.Text == nil {
		return ""
	}
	return *a.Text
}

// Normalized drops a blank text.
func (a CustomFieldAnswer) Normalized() CustomFieldAnswer {
	if Blank(a.text()) {
		a.Text = nil
	}
	return a
}

// CheckCustomFieldIDs checks that the field id of each answer is a UUID, and that no field of the tenant has two answers. It
// returns the field of each answer, or nil if the tenant has no such field: such an answer is ignored.
func CheckCustomFieldIDs(definitions []*tenantsv1.CustomField, answers []CustomFieldAnswer, errs *Errors) []*tenantsv1.CustomField {
	answered := make([]*tenantsv1.CustomField, len(answers))
	byID := make(map[string]*tenantsv1.CustomField, len(definitions))
	for _, field := range definitions {
		byID[field.GetId()] = field
	}
	seen := make(map[string]struct{}, len(definitions))
	for i, a := range answers {
		id, ok := ParseUUID(a.FieldID)
		_, twice := seen[id]
		switch answered[i] = byID[id]; {
		case !ok:
			errs.Add(fieldIDPath(i), problem.FieldInvalid, "must be a UUID")
		case twice:
			errs.Add(fieldIDPath(i), problem.FieldInvalid, "is answered twice")
		case answered[i] != nil:
			seen[id] = struct{}{}
		}
	}
	return answered
}

func fieldIDPath(i int) string { return fmt.Sprintf("customFields[%d].fieldId", i) }

// MatchCustomFields returns the answers that count, in the order of the tenant's fields, without blank texts. An answer to no field
// of the tenant is ignored. The refusal is a sentence about the first required field without an answer, or the first field with an
// invalid answer. Otherwise it is empty.
func MatchCustomFields(
	definitions []*tenantsv1.CustomField, answers []CustomFieldAnswer,
) (matched []CustomFieldAnswer, refusal string) {
	byField := make(map[string]CustomFieldAnswer, len(answers))
	for _, a := range answers {
		id, _ := ParseUUID(a.FieldID)
		byField[id] = a.Normalized()
	}
	for _, field := range definitions {
		answer := byField[field.GetId()]
		switch {
		case answer.Text == nil && answer.Checked == nil:
			if field.GetRequired() {
				return nil, fmt.Sprintf("The custom field %q must be answered.", field.GetLabel())
			}
		case !fits(field, answer):
			return nil, fmt.Sprintf("The answer to the custom field %q does not fit it.", field.GetLabel())
		default:
			answer.FieldID = field.GetId()
			matched = append(matched, answer)
		}
	}
	return matched, ""
}

func fits(field *tenantsv1.CustomField, a CustomFieldAnswer) bool {
	switch field.GetType() {
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX:
		return a.Text == nil
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN:
		text := norm.NFC.String(a.text())
		return a.Checked == nil && slices.ContainsFunc(field.GetOptions(),
			func(option string) bool { return norm.NFC.String(option) == text })
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT:
		var length Errors
		length.Text("", a.text(), MaxCustomFieldText)
		return a.Checked == nil && length.Err() == nil
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_UNSPECIFIED:
	}
	return false
}
