package fields_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

func TestViolationsOfTheEdgeComeFirstAndSuppressFollowUps(t *testing.T) {
	t.Parallel()
	ctx := caller.WithRequest(t.Context(), caller.Request{Violations: []problem.Violation{
		{Field: "client", Code: problem.FieldInvalid, Message: "must be an object"},
	}})
	e := caller.RequestErrors(ctx)
	e.Required("client.name", "", 255)
	e.Required("externalOrderId", " \t", 128)
	require.Equal(t, []problem.Violation{
		{Field: "client", Code: problem.FieldInvalid, Message: "must be an object"},
		{Field: "externalOrderId", Code: problem.FieldRequired, Message: "is required"},
	}, e.List())
}

func TestAnUnreadableBodyIsTheOnlyViolation(t *testing.T) {
	t.Parallel()
	var e fields.Errors
	e.Add("", problem.FieldInvalid, "is not JSON")
	e.Required("externalOrderId", "", 128)
	require.Len(t, e.List(), 1)
}

func TestLengthCountsCodePoints(t *testing.T) {
	t.Parallel()
	var e fields.Errors
	e.Required("a", strings.Repeat("å", 128), 128)
	require.NoError(t, e.Err())
	e.Required("b", strings.Repeat("å", 129), 128)
	require.Equal(t, problem.FieldTooLong, e.List()[0].Code)
}

func TestUUIDsAreReadInOneFormOnly(t *testing.T) {
	t.Parallel()
	id, ok := fields.ParseUUID("0198F2E4-7A2B-7C3D-8E4F-5A6B7C8D9E0F")
	require.True(t, ok)
	require.Equal(t, "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f", id)
	for _, s := range []string{"", "x", "{" + id + "}", "urn:uuid:" + id, strings.ReplaceAll(id, "-", "")} {
		_, ok := fields.ParseUUID(s)
		require.False(t, ok, s)
	}
}

func TestAnOptionalUUIDIsNilOrValid(t *testing.T) {
	t.Parallel()
	var e fields.Errors
	upper, blank := "0198F2E4-7A2B-7C3D-8E4F-5A6B7C8D9E0F", " "
	require.Nil(t, e.OptionalUUID("a", nil))
	require.Equal(t, strings.ToLower(upper), *e.OptionalUUID("a", fields.Optional(&upper)))
	require.Nil(t, e.OptionalUUID("a", fields.Optional(&blank)))
	require.NoError(t, e.Err())
	e.OptionalUUID("b", &blank)
	require.Equal(t, []problem.Violation{{Field: "b", Code: problem.FieldInvalid, Message: "must be a UUID"}}, e.List())
}

func TestAResponseListsABoundedNumberOfBoundedViolations(t *testing.T) {
	t.Parallel()
	var e fields.Errors
	for i := range 5000 {
		e.Add(fmt.Sprintf("customFields[%d].%s", i, strings.Repeat("å", 1000)), problem.FieldInvalid, "must be a UUID")
	}
	require.Len(t, e.List(), 1000)
	for _, v := range e.List() {
		require.LessOrEqual(t, len(v.Field), 210)
		require.True(t, utf8.ValidString(v.Field))
	}
}

func TestAFieldIsTouchedByItsPartsAndByWhatItIsPartOf(t *testing.T) {
	t.Parallel()
	var e fields.Errors
	e.Add("items[0].variations", problem.FieldInvalid, "no")
	for field, want := range map[string]bool{
		"items[0].variations": true, "items[0].variations.Size": true, "items[0]": true, "items": true,
		"items[0].productId": false, "items[1]": false, "item": false, "items[0].variation": false, "brandId": false,
	} {
		require.Equal(t, want, e.Touches(field), field)
	}
}
