package openapi_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
)

func TestEveryExampleFitsItsSchema(t *testing.T) {
	t.Parallel()
	d := load(t)
	for _, section := range []string{"paths", "webhooks"} {
		d.each(section, func(path, method string, op object) {
			t.Run(method+" "+path, func(t *testing.T) {
				d := d
				d.t = t
				parameters, _ := op["parameters"].([]any)
				for i, p := range parameters {
					if example, ok := d.object(p)["example"]; ok {
						require.NoError(t, d.parameterSchema(p, section, path, method, i).Validate(example), "%v", d.object(p)["name"])
					}
				}
				if body, ok := op["requestBody"].(object); ok {
					d.checkExamples(body, section, path, method, "requestBody")
				}
				for status, response := range d.object(op["responses"]) {
					d.checkResponse(response, status, section, path, method)
				}
			})
		})
	}
}

func (d document) parameterSchema(parameter any, section, path, method string, index int) interface{ Validate(any) error } {
	d.t.Helper()
	if ref, ok := parameter.(object)["$ref"].(string); ok {
		return d.schema("components", "parameters", ref[len("#/components/parameters/"):], "schema")
	}
	return d.schema(section, path, method, "parameters", strconv.Itoa(index), "schema")
}

func (d document) checkResponse(response any, status, section, path, method string) {
	d.t.Helper()
	if ref, ok := response.(object)["$ref"].(string); ok {
		d.checkExamples(d.object(response), "components", "responses", ref[len("#/components/responses/"):])
		return
	}
	d.checkExamples(d.object(response), section, path, method, "responses", status)
}

// checkExamples validates the examples of each media type of a body; JSON must have some.
func (d document) checkExamples(body object, names ...string) {
	d.t.Helper()
	content, _ := body["content"].(object)
	for media, value := range content {
		examples, _ := d.object(value)["examples"].(object)
		if media != "application/json" && media != "application/problem+json" {
			require.Empty(d.t, examples)
			continue
		}
		require.NotEmpty(d.t, examples, "%v has no example", names)
		schema := d.schema(append(append([]string{}, names...), "content", media, "schema")...)
		for name, example := range examples {
			require.NoError(d.t, schema.Validate(d.object(example)["value"]), "%v %s", names, name)
		}
	}
}

func TestErrorsAreShownUnderTheirStatus(t *testing.T) {
	t.Parallel()
	d := load(t)
	seen := 0
	d.each("paths", func(path, method string, op object) {
		for status, response := range d.object(op["responses"]) {
			content, _ := d.object(response)["content"].(object)
			media, _ := content["application/problem+json"].(object)
			examples, _ := media["examples"].(object)
			for name, example := range examples {
				require.Equal(t, status, strconv.Itoa(problem.Lookup(problem.Code(name)).Status), "%s %s", method, path)
				require.Contains(t, d.object(example)["value"], "detail", "%s %s %s", method, path, name)
				seen++
			}
		}
	})
	require.Positive(t, seen)
}

func TestSchemasRejectInvalidValues(t *testing.T) {
	t.Parallel()
	d := load(t)
	order := d.schema("components", "schemas", "Order")
	page := d.object(d.object(d.object(d.at("paths", "/orders/{orderId}", "get", "responses", "200",
		"content", "application/json", "examples", "sent")))["value"])
	require.NoError(t, order.Validate(page))
	for name, invalid := range map[string]any{"version": "0", "status": "GONE", "selection": "X", "urgent": nil, "createdAt": "yesterday"} {
		valid := page[name]
		page[name] = invalid
		require.Error(t, order.Validate(page), name)
		page[name] = valid
	}
	delete(page, "campaignId")
	require.Error(t, order.Validate(page))
}
