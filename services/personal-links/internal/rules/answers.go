package rules

import (
	"fmt"
	"slices"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// checkAnswers gives the answers that count: one to each field of the tenant that is answered. An
// answer to no field of the tenant is ignored.
func checkAnswers(of []*tenantsv1.CustomField, answers []*linksv1.PersonalLinkAnswer, errs *fields.Errors) []Answer {
	given := answersByField(answers, errs)
	var kept []Answer
	for _, field := range of {
		answer, ok := given[field.GetId()]
		switch {
		case !ok || isEmpty(answer):
			if field.GetRequired() {
				errs.Add("customFields", problem.FieldInvalid, fmt.Sprintf("the field %q must be answered", field.GetLabel()))
			}
		case !fits(field, answer):
			errs.Add("customFields", problem.FieldInvalid, fmt.Sprintf("the answer to the field %q does not fit it", field.GetLabel()))
		default:
			kept = append(kept, newAnswer(field.GetId(), answer))
		}
	}
	return kept
}

func answersByField(answers []*linksv1.PersonalLinkAnswer, errs *fields.Errors) map[string]*linksv1.PersonalLinkAnswer {
	if len(answers) > maxAnswers {
		errs.Add("customFields", problem.FieldInvalid, "holds too many answers")
		return nil
	}
	given := make(map[string]*linksv1.PersonalLinkAnswer, len(answers))
	for i, a := range answers {
		path := fmt.Sprintf("customFields[%d].fieldId", i)
		id := errs.UUID(path, a.GetFieldId())
		if _, twice := given[id]; twice {
			errs.Add(path, problem.FieldInvalid, "stands twice")
		}
		given[id] = a
	}
	return given
}

func newAnswer(fieldID string, a *linksv1.PersonalLinkAnswer) Answer {
	answer := Answer{FieldID: fieldID, Checked: a.Checked}
	if text := a.GetTextValue(); !fields.Blank(text) {
		answer.Text = &text
	}
	return answer
}

func isEmpty(a *linksv1.PersonalLinkAnswer) bool {
	return a.Checked == nil && fields.Blank(a.GetTextValue())
}

func fits(field *tenantsv1.CustomField, a *linksv1.PersonalLinkAnswer) bool {
	switch field.GetType() {
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX:
		return a.Checked != nil && fields.Blank(a.GetTextValue())
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN:
		return a.Checked == nil && slices.Contains(field.GetOptions(), a.GetTextValue())
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT:
		var length fields.Errors
		length.MaxLen("", a.GetTextValue(), maxTextAnswer)
		return a.Checked == nil && length.Err() == nil
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_UNSPECIFIED:
	}
	return false
}
