package rules_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

func TestAnswersThatDoNotFitAreInvalidCustomFields(t *testing.T) {
	t.Parallel()
	field := &tenantsv1.CustomField{Id: aUUID, Label: "Reason", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT, Required: true}
	answer := &ordersv1.CustomFieldAnswer{FieldId: aUUID, TextValue: new("x")}
	matched, err := rules.MatchCustomFields([]*tenantsv1.CustomField{field}, []*ordersv1.CustomFieldAnswer{answer})
	require.NoError(t, err)
	require.Equal(t, []rules.CustomAnswer{{FieldID: aUUID, Text: new("x")}}, matched)
	_, err = rules.MatchCustomFields([]*tenantsv1.CustomField{field}, nil)
	p, ok := problem.As(err)
	require.True(t, ok)
	require.Equal(t, problem.InvalidCustomFields, p.Code)
	require.Equal(t, "customFields", p.Violations[0].Field)
}

func TestTheManagerIsAnActiveMember(t *testing.T) {
	t.Parallel()
	team := []*tenantsv1.TeamMember{
		{Id: "1", Email: "ann@example.com", Active: true},
		{Id: "2", Email: "bo@example.com"},
	}
	id, err := rules.FindManager(team, " Ann@Example.com ")
	require.NoError(t, err)
	require.Equal(t, new("1"), id)
	for _, email := range []string{"bo@example.com", "none@example.com", "no address"} {
		_, err := rules.FindManager(team, email)
		require.True(t, problem.Is(err, problem.ManagerNotFound))
	}
}

func TestOpeningHours(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
	one, two := rules.NewReference(identity.Cell{Letter: "b"}), rules.NewReference(identity.Cell{Letter: "b"})
	require.Regexp(t, `^GB-[0-9A-HJKMNP-TV-Z]{5}-[0-9A-HJKMNP-TV-Z]{5}$`, one)
	require.NotEqual(t, one, two)
}
