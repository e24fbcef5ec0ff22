package openapi_test

import (
	"encoding/json"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
)

// codes is the table of the API specification, section Errors, and the codes that the platform adds to it.
var codes = []struct {
	code   string
	status int
}{
	{"invalid_request", 400},
	{"idempotency_key_required", 400},
	{"idempotency_key_invalid", 400},
	{"invalid_api_key", 401},
	{"insufficient_scope", 403},
	{"not_found", 404},
	{"method_not_allowed", 405},
	{"not_acceptable", 406},
	{"idempotency_request_in_progress", 409},
	{"out_of_stock", 409},
	{"external_order_id_conflict", 409},
	{"not_editable", 409},
	{"not_cancellable", 409},
	{"version_conflict", 409},
	{"payload_too_large", 413},
	{"unsupported_media_type", 415},
	{"idempotency_key_reused", 422},
	{"brand_required", 422},
	{"brand_not_found", 422},
	{"brand_campaign_mismatch", 422},
	{"campaign_not_found", 422},
	{"campaign_not_active", 422},
	{"product_not_in_campaign", 422},
	{"product_not_available", 422},
	{"product_not_found", 422},
	{"not_deliverable_to_country", 422},
	{"invalid_variations", 422},
	{"invalid_custom_fields", 422},
	{"manager_not_found", 422},
	{"country_change_not_allowed", 422},
	{"no_products", 422},
	{"no_recipients", 422},
	{"too_many_recipients", 422},
	{"rate_limited", 429},
	{"internal_error", 500},
	{"service_unavailable", 503},
	{"range_not_satisfiable", 416},
}

var fieldCodes = []string{
	"required", "invalid", "too_long", "duplicate", "not_enabled", "manager_not_found", "not_allowed_with_catalog_selection",
}

func TestTheRegistryIsTheTableOfTheSpecification(t *testing.T) {
	t.Parallel()
	registry := problem.Registry()
	require.Len(t, registry, len(codes))
	for i, want := range codes {
		require.EqualValues(t, want.code, registry[i].Code)
		require.Equal(t, want.status, registry[i].Status, want.code)
		require.NotEmpty(t, registry[i].Title, want.code)
	}
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
		for _, c := range codes {
			want = append(want, c.code)
		}
		require.Equal(t, want, texts(d.at("components", "schemas", "Problem", "properties", "code", "enum")))
		require.Equal(t, fieldCodes, texts(d.at("components", "schemas", "FieldError", "properties", "code", "enum")))
	})
}

func (d document) properties(schema string) []string {
	d.t.Helper()
	return slices.Collect(maps.Keys(d.object(d.at("components", "schemas", schema, "properties"))))
}

func TestThePageOfErrorsHasTextsForEveryCode(t *testing.T) {
	t.Parallel()
	page := get(t, "/docs/errors").Body.String()
	for _, info := range problem.Registry() {
		_, article, found := strings.Cut(page, `<h3 id="`+string(info.Code)+`">`+info.Title+`</h3>`)
		require.True(t, found, info.Code)
		article, _, _ = strings.Cut(article, "</article>")
		require.Equal(t, 2, strings.Count(article, `<dd class="prose"><p>`), "cause and remedy of %s", info.Code)
	}
	for _, code := range fieldCodes {
		require.Contains(t, page, `<dt id="field-`+code+`">`)
	}
	raw, err := os.ReadFile("errors.yaml")
	require.NoError(t, err)
	var texts struct{ Codes, Fields map[string]any }
	require.NoError(t, yaml.Unmarshal(raw, &texts))
	require.Len(t, texts.Codes, len(codes), "texts of codes that do not exist")
	require.Len(t, texts.Fields, len(fieldCodes), "texts of field codes that do not exist")
}
