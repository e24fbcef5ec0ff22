package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

func field(kind tenantsv1.CustomFieldType, required bool) []*tenantsv1.CustomField {
	return []*tenantsv1.CustomField{{Id: aUUID, Label: "Reason", Type: kind, Required: required, Options: []string{"A", "B"}}}
}

func TestCustomFieldAnswers(t *testing.T) {
	const (
		text     = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT
		checkbox = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX
		dropdown = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_DROPDOWN
	)
	value := func(s string) *ordersv1.CustomFieldAnswer {
		return &ordersv1.CustomFieldAnswer{FieldId: aUUID, TextValue: &s}
	}
	ticked := func(b bool) *ordersv1.CustomFieldAnswer {
		return &ordersv1.CustomFieldAnswer{FieldId: aUUID, Checked: &b}
	}
	for name, tc := range map[string]struct {
		kind     tenantsv1.CustomFieldType
		required bool
		answer   *ordersv1.CustomFieldAnswer
		ok       bool
		kept     int
	}{
		"a text":                                {text, true, value("x"), true, 1},
		"a blank text where one is required":    {text, true, value(" "), false, 0},
		"a blank text where none is required":   {text, false, value(""), true, 0},
		"a tick for a text":                     {text, false, ticked(true), false, 0},
		"no answer where one is required":       {text, true, nil, false, 0},
		"no answer where none is required":      {text, false, nil, true, 0},
		"an unticked required box":              {checkbox, true, ticked(false), true, 1},
		"a required box without checked":        {checkbox, true, &ordersv1.CustomFieldAnswer{FieldId: aUUID}, false, 0},
		"a text for a box":                      {checkbox, false, value("yes"), false, 0},
		"an option":                             {dropdown, true, value("B"), true, 1},
		"a value that is no option":             {dropdown, false, value("C"), false, 0},
		"an answer to a field of nobody":        {text, false, &ordersv1.CustomFieldAnswer{FieldId: "other", TextValue: proto.String("x")}, true, 0},
		"an answer to nobody does not count":    {text, true, &ordersv1.CustomFieldAnswer{FieldId: "other", TextValue: proto.String("x")}, false, 0},
		"a box with a blank text is only a box": {checkbox, true, &ordersv1.CustomFieldAnswer{FieldId: aUUID, Checked: proto.Bool(true), TextValue: proto.String("")}, true, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var answers []*ordersv1.CustomFieldAnswer
			if tc.answer != nil {
				answers = append(answers, tc.answer)
			}
			kept, err := rules.CheckCustomFields(field(tc.kind, tc.required), answers)
			if !tc.ok {
				require.True(t, problem.Is(err, problem.InvalidCustomFields), "%v", err)
				return
			}
			require.NoError(t, err)
			require.Len(t, kept, tc.kept)
		})
	}
}

func TestTheManagerIsAnActiveMember(t *testing.T) {
	team := []*tenantsv1.TeamMember{
		{Id: "1", Email: "ann@example.com", Active: true},
		{Id: "2", Email: "bo@example.com"},
	}
	id, err := rules.FindManager(team, " Ann@Example.com ")
	require.NoError(t, err)
	require.Equal(t, "1", id)
	for _, email := range []string{"bo@example.com", "none@example.com", "no address"} {
		_, err := rules.FindManager(team, email)
		require.True(t, problem.Is(err, problem.ManagerNotFound))
	}
}

func TestOpeningHours(t *testing.T) {
	hours, err := rules.ParseOpeningHours("Mon-Fri 09:00-17:00; Sat 10:00-14:00", "Europe/Stockholm")
	require.NoError(t, err)
	for at, open := range map[string]bool{
		"2026-11-20T08:00:00Z": true,  // Friday 09:00 in winter.
		"2026-11-20T07:59:59Z": false, // A second before.
		"2026-11-20T16:00:00Z": false, // Friday 17:00: closed.
		"2026-07-03T07:00:00Z": true,  // Friday 09:00 in summer.
		"2026-11-21T12:59:00Z": true,  // Saturday 13:59.
		"2026-11-22T12:00:00Z": false, // Sunday.
	} {
		instant, err := time.Parse(time.RFC3339, at)
		require.NoError(t, err)
		require.Equal(t, open, hours.Open(instant), at)
	}
	overWeekend, err := rules.ParseOpeningHours("Sat-Mon 00:00-24:00", "UTC")
	require.NoError(t, err)
	require.True(t, overWeekend.Open(time.Date(2026, 11, 22, 23, 59, 0, 0, time.UTC)))
	require.False(t, overWeekend.Open(time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC)))

	for _, bad := range []string{"", "Mon", "Mon 9-17", "Mon 17:00-09:00", "Xyz 09:00-17:00", "Mon 09:60-17:00", "Mon 09:00-25:00"} {
		_, err := rules.ParseOpeningHours(bad, "UTC")
		require.ErrorIs(t, err, rules.ErrSchedule, bad)
	}
	_, err = rules.ParseOpeningHours("Mon 09:00-17:00", "Nowhere/City")
	require.Error(t, err)
}

func TestReferencesAreReadable(t *testing.T) {
	one, two := rules.NewReference(), rules.NewReference()
	require.Regexp(t, `^G-[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$`, one)
	require.NotEqual(t, one, two)
}
