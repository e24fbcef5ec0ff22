package openapi_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
)

var fieldCodes = []string{
	"required", "invalid", "too_long", "duplicate", "not_enabled", "manager_not_found", "not_allowed_with_catalog_selection",
	"events_lost",
}

func TestTheSchemaOfErrors(t *testing.T) {
	t.Parallel()
	d := load(t)
	full := &problem.Error{
		Code: problem.InvalidRequest, Detail: "d", CurrentStatus: "SENT", OrderID: "0198f2e4-7a2b-7c3d-8e4f-5a6b7c8d9e0f",
		Violations: []problem.Violation{{Field: "f", Code: problem.FieldInvalid, Message: "m"}},
	}
	written := func(e *problem.Error, id string) (members object) {
		w := httptest.NewRecorder()
		w.Header().Set("Request-Id", id)
		httperror.Writer{DocsURL: publicURL + "/docs"}.Write(t.Context(), w, e)
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &members))
		require.NoError(t, d.schema("components", "schemas", "Problem").Validate(members))
		return members
	}
	t.Run("has every member that an error can have", func(t *testing.T) {
		members := written(full, "id")
		require.ElementsMatch(t, slices.Collect(maps.Keys(members)), d.properties("Problem"))
		field := members["errors"].([]any)[0]
		require.ElementsMatch(t, slices.Collect(maps.Keys(field.(object))), d.properties("FieldError"))
	})
	t.Run("requires those that every error has", func(t *testing.T) {
		least := written(&problem.Error{Code: problem.NotFound}, "")
		require.ElementsMatch(t, slices.Collect(maps.Keys(least)), texts(d.at("components", "schemas", "Problem", "required")))
	})
	t.Run("lists every code in order", func(t *testing.T) {
		var want []string
		for _, info := range problem.Registry() {
			want = append(want, string(info.Code))
		}
		require.Equal(t, want, texts(d.at("components", "schemas", "Problem", "properties", "code", "x-extensible-enum")))
		require.Equal(t, fieldCodes, texts(d.at("components", "schemas", "FieldError", "properties", "code", "x-extensible-enum")))
	})
}

func (d document) properties(schema string) []string {
	d.t.Helper()
	return slices.Collect(maps.Keys(d.object(d.at("components", "schemas", schema, "properties"))))
}
