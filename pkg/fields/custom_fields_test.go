package fields_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	fieldID = "0198f2e4-0000-7000-8000-00000000000a"
	otherID = "0198f2e4-0000-7000-8000-00000000000b"
)

func TestAnswersAreMatchedWithTheFieldsOfTheTenant(t *testing.T) {
	t.Parallel()
	const (
		text     = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT
		checkbox = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX
		dropdown = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN
	)
	type answer = fields.CustomFieldAnswer
	for name, tc := range map[string]struct {
		kind     tenantsv1.CustomFieldType
		required bool
		answer   answer
		ok       bool
		matched  int
	}{
		"a text":                                  {text, true, answer{fieldID, new("x"), nil}, true, 1},
		"a text by the field's id in upper case":  {text, true, answer{strings.ToUpper(fieldID), new("x"), nil}, true, 1},
		"a text that is too long":                 {text, false, answer{fieldID, new(strings.Repeat("x", 2001)), nil}, false, 0},
		"a blank text where one is required":      {text, true, answer{fieldID, new(" "), nil}, false, 0},
		"a blank text where none is required":     {text, false, answer{fieldID, new(""), nil}, true, 0},
		"a tick for a text":                       {text, false, answer{fieldID, nil, new(true)}, false, 0},
		"no answer where one is required":         {text, true, answer{}, false, 0},
		"no answer where none is required":        {text, false, answer{}, true, 0},
		"an unticked required box":                {checkbox, true, answer{fieldID, nil, new(false)}, true, 1},
		"a required box without checked":          {checkbox, true, answer{fieldID, nil, nil}, false, 0},
		"a text for a box":                        {checkbox, false, answer{fieldID, new("yes"), nil}, false, 0},
		"a box with a blank text is only a box":   {checkbox, true, answer{fieldID, new(""), new(true)}, true, 1},
		"an option":                               {dropdown, true, answer{fieldID, new("B"), nil}, true, 1},
		"a value that is no option":               {dropdown, false, answer{fieldID, new("C"), nil}, false, 0},
		"an option in lower case":                 {dropdown, false, answer{fieldID, new("b"), nil}, false, 0},
		"an option with a blank before it":        {dropdown, false, answer{fieldID, new(" B"), nil}, false, 0},
		"an option with a blank after it":         {dropdown, false, answer{fieldID, new("B "), nil}, false, 0},
		"the beginning of an option":              {dropdown, false, answer{fieldID, new("Caf"), nil}, false, 0},
		"an option and more":                      {dropdown, false, answer{fieldID, new("Cafés"), nil}, false, 0},
		"two options":                             {dropdown, false, answer{fieldID, new("AB"), nil}, false, 0},
		"an option in composed form":              {dropdown, true, answer{fieldID, new("Caf\u00e9"), nil}, true, 1},
		"a composed option in decomposed form":    {dropdown, true, answer{fieldID, new("Cafe\u0301"), nil}, true, 1},
		"a decomposed option in composed form":    {dropdown, true, answer{fieldID, new("N\u00fc"), nil}, true, 1},
		"a compatible form of an option":          {dropdown, false, answer{fieldID, new("\uff21"), nil}, false, 0},
		"a long value that is no option":          {dropdown, false, answer{fieldID, new(strings.Repeat("x", 2001)), nil}, false, 0},
		"a tick for an option":                    {dropdown, false, answer{fieldID, new("B"), new(true)}, false, 0},
		"an answer to an unknown field":           {text, false, answer{otherID, new("x"), nil}, true, 0},
		"a long answer to an unknown field":       {text, false, answer{otherID, new(strings.Repeat("x", 2001)), nil}, true, 0},
		"an answer to an unknown field, required": {text, true, answer{otherID, new("x"), nil}, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			definitions := []*tenantsv1.CustomField{{
				Id: fieldID, Label: "Reason", Type: tc.kind, Required: tc.required, Options: []string{"A", "B", "Caf\u00e9", "Nu\u0308"},
			}}
			matched, refusal := fields.MatchCustomFields(definitions, []answer{tc.answer})
			require.Equal(t, tc.ok, refusal == "", refusal)
			require.Len(t, matched, tc.matched)
			for _, a := range matched {
				require.Equal(t, fieldID, a.FieldID)
			}
		})
	}
}

func TestEachAnswerNamesADifferentField(t *testing.T) {
	t.Parallel()
	many := func(id string) []string { return slices.Repeat([]string{id}, 5000) }
	for name, tc := range map[string]struct {
		ids  []string
		want []string
	}{
		"different fields": {[]string{fieldID, otherID}, nil},
		"no id":            {[]string{fieldID, "x"}, []string{"customFields[1].fieldId"}},
		"a field twice":    {[]string{fieldID, strings.ToUpper(fieldID)}, []string{"customFields[1].fieldId"}},
		"a field twice among many": {
			append(append([]string{fieldID}, many(otherID)...), fieldID), []string{"customFields[5001].fieldId"},
		},
		"an unknown field twice": {[]string{otherID, fieldID, otherID}, nil},
		"an unknown field often": {many(otherID), nil},
		"no ids twice":           {[]string{"x", "x"}, []string{"customFields[0].fieldId", "customFields[1].fieldId"}},
	} {
		t.Run(name, func(t *testing.T) {
			var errs fields.Errors
			var answers []fields.CustomFieldAnswer
			for _, id := range tc.ids {
				answers = append(answers, fields.CustomFieldAnswer{FieldID: id})
			}
			definitions := []*tenantsv1.CustomField{{Id: fieldID}}
			answered := fields.CheckCustomFieldIDs(definitions, answers, &errs)
			var found []string
			for _, v := range errs.List() {
				require.Equal(t, problem.FieldInvalid, v.Code)
				found = append(found, v.Field)
			}
			require.Equal(t, tc.want, found)
			for i, field := range answered {
				require.Equal(t, strings.EqualFold(tc.ids[i], fieldID), field == definitions[0])
			}
		})
	}
}
