package rules

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// CustomField validates a custom field.
func CustomField(f *tenantsv1.CustomField, errs *fields.Errors) *tenantsv1.CustomField {
	if f == nil {
		errs.Add("field", problem.FieldRequired, "is required")
		return f
	}
	errs.Required("field.label", f.GetLabel(), maxLabel)
	if !declared(f.GetType()) {
		errs.Add("field.type", problem.FieldInvalid, "must be a type of custom field")
	}
	options(f, errs)
	return &tenantsv1.CustomField{
		Id:       errs.UUID("field.id", f.GetId()),
		Label:    f.GetLabel(),
		Type:     f.GetType(),
		Required: f.GetRequired(),
		Options:  f.GetOptions(),
	}
}

func options(f *tenantsv1.CustomField, errs *fields.Errors) {
	dropdown := f.GetType() == tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN
	switch n := len(f.GetOptions()); {
	case dropdown && n == 0:
		errs.Add("field.options", problem.FieldRequired, "is required for a dropdown")
	case !dropdown && n > 0:
		errs.Add("field.options", problem.FieldInvalid, "must be empty unless the field is a dropdown")
	case n > maxOptions:
		errs.Add("field.options", problem.FieldTooLong, "has too many entries")
	}
	seen := make(map[string]struct{}, len(f.GetOptions()))
	for i, option := range f.GetOptions() {
		path := fmt.Sprintf("field.options[%d]", i)
		errs.Required(path, option, maxOption)
		if _, twice := seen[option]; twice {
			errs.Add(path, problem.FieldDuplicate, "is already in the list")
		}
		seen[option] = struct{}{}
	}
}
