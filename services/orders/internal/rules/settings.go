package rules

import (
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// CheckCustomFields gives the answers that count, or invalid_custom_fields: a required field is
// unanswered or an answer does not fit its field. An answer to no field of the tenant is ignored.
func CheckCustomFields(tenantFields []*tenantsv1.CustomField, answers []*ordersv1.CustomFieldAnswer) ([]CustomAnswer, error) {
	given := make(map[string]*ordersv1.CustomFieldAnswer, len(answers))
	for _, a := range answers {
		given[a.GetFieldId()] = a
	}
	var kept []CustomAnswer
	for _, field := range tenantFields {
		answer, ok := given[field.GetId()]
		if !ok || isEmpty(answer) {
			if field.GetRequired() {
				return nil, customFieldFault("The custom field %q must be answered.", field)
			}
			continue
		}
		if !fits(field, answer) {
			return nil, customFieldFault("The answer to the custom field %q does not fit it.", field)
		}
		kept = append(kept, newCustomAnswer(answer))
	}
	return kept, nil
}

func newCustomAnswer(a *ordersv1.CustomFieldAnswer) CustomAnswer {
	answer := CustomAnswer{FieldID: a.GetFieldId(), Checked: a.Checked}
	if text := a.GetTextValue(); !fields.Blank(text) {
		answer.Text = &text
	}
	return answer
}

func isEmpty(a *ordersv1.CustomFieldAnswer) bool {
	return a.Checked == nil && fields.Blank(a.GetTextValue())
}

func fits(field *tenantsv1.CustomField, a *ordersv1.CustomFieldAnswer) bool {
	switch field.GetType() {
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX:
		return a.Checked != nil && fields.Blank(a.GetTextValue())
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN:
		return a.Checked == nil && slices.Contains(field.GetOptions(), a.GetTextValue())
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT:
		return a.Checked == nil
	case tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_UNSPECIFIED:
	}
	return false
}

func customFieldFault(format string, field *tenantsv1.CustomField) error {
	p := problem.New(problem.InvalidCustomFields, format, field.GetLabel())
	p.Violations = []problem.Violation{{Field: "customFields", Code: problem.FieldInvalid, Message: p.Detail}}
	return p
}

// FindManager gives the id of the active team member with the address.
func FindManager(team []*tenantsv1.TeamMember, email string) (string, error) {
	email = strings.ToLower(strings.TrimSpace(email))
	for _, member := range team {
		if member.GetActive() && member.GetEmail() == email {
			return member.GetId(), nil
		}
	}
	return "", problem.New(problem.ManagerNotFound, "managerEmail names no active team member.")
}

// HasBrand says whether the tenant has the brand.
func HasBrand(brands []*tenantsv1.Brand, id string) bool {
	return slices.ContainsFunc(brands, func(b *tenantsv1.Brand) bool { return b.GetId() == id })
}
