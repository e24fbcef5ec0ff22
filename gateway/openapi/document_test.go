package openapi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/problem"
)

const publicURL = "https://gifts.test/api/public/v1"

// object is a JSON object of the document.
type object = map[string]any

// document is the OpenAPI document as callers get it.
type document struct {
	t        *testing.T
	root     object
	raw      []byte
	compiler *jsonschema.Compiler
}

var environments = []apikey.Environment{apikey.Production, apikey.Sandbox}

// written are the documents of the environments as JSON, made once for all tests.
var written = sync.OnceValues(func() (made map[apikey.Environment][]byte, err error) {
	made = map[apikey.Environment][]byte{}
	for _, environment := range environments {
		d, err := openapi.New(publicURL+"/", environment, nil)
		if err != nil {
			return nil, err
		}
		if made[environment], err = d.JSON(); err != nil {
			return nil, err
		}
	}
	return made, nil
})

func load(t *testing.T) document {
	t.Helper()
	return loadOf(t, apikey.Sandbox)
}

func loadOf(t *testing.T, environment apikey.Environment) document {
	t.Helper()
	documents, err := written()
	require.NoError(t, err)
	return parseDocument(t, documents[environment])
}

func parseDocument(t *testing.T, raw []byte) document {
	t.Helper()
	d := document{t: t, raw: raw}
	require.NoError(t, json.Unmarshal(raw, &d.root))
	root, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	require.NoError(t, err)
	d.compiler = jsonschema.NewCompiler()
	d.compiler.DefaultDraft(jsonschema.Draft2020)
	d.compiler.AssertFormat()
	require.NoError(t, d.compiler.AddResource("openapi.json", root))
	return d
}

// at returns the value at a path of member names.
func (d document) at(names ...string) any {
	d.t.Helper()
	var value any = d.root
	for _, name := range names {
		members, ok := value.(object)
		require.True(d.t, ok, "%v", names)
		require.Contains(d.t, members, name, "%v", names)
		value = d.deref(members[name])
	}
	return value
}

// deref follows a reference.
func (d document) deref(value any) any {
	d.t.Helper()
	members, ok := value.(object)
	if !ok {
		return value
	}
	ref, ok := members["$ref"].(string)
	if !ok {
		return value
	}
	return d.at(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
}

func (d document) object(value any) object {
	d.t.Helper()
	members, ok := d.deref(value).(object)
	require.True(d.t, ok, "%v is not an object", value)
	return members
}

// each visits the operations of the paths or of the webhooks.
func (d document) each(section string, visit func(path, method string, op object)) {
	d.t.Helper()
	paths := d.object(d.root[section])
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, op := range d.object(paths[path]) {
			visit(path, method, d.object(op))
		}
	}
}

// schema compiles the schema at a path of member names.
func (d document) schema(names ...string) *jsonschema.Schema {
	d.t.Helper()
	pointer := "openapi.json#"
	for _, name := range names {
		pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(name)
	}
	schema, err := d.compiler.Compile(pointer)
	require.NoError(d.t, err)
	return schema
}

func texts(values any) []string {
	list, _ := values.([]any)
	found := make([]string, len(list))
	for i, v := range list {
		found[i], _ = v.(string)
	}
	return found
}

func TestTheDocumentIsOpenAPI31(t *testing.T) {
	t.Parallel()
	for _, environment := range environments {
		t.Run(string(environment), func(t *testing.T) {
			parsed, err := libopenapi.NewDocument(loadOf(t, environment).raw)
			require.NoError(t, err)
			require.Equal(t, "3.1.0", parsed.GetVersion())
			model, err := parsed.BuildV3Model()
			require.NoError(t, err)
			require.NotNil(t, model)
			v, errs := validator.NewValidator(parsed)
			require.Empty(t, errs)
			valid, found := v.ValidateDocument()
			require.True(t, valid, "%v", found)
		})
	}
}

func TestYAMLAndJSONAreTheSameDocument(t *testing.T) {
	t.Parallel()
	d, err := openapi.New(publicURL, apikey.Sandbox, nil)
	require.NoError(t, err)
	written, err := d.YAML()
	require.NoError(t, err)
	var fromYAML any
	require.NoError(t, yaml.Unmarshal(written, &fromYAML))
	asJSON, err := json.Marshal(fromYAML)
	require.NoError(t, err)
	require.JSONEq(t, string(load(t).raw), string(asJSON))
}

func TestTheDocumentContainsThePublicURL(t *testing.T) {
	t.Parallel()
	d := load(t)
	require.Equal(t, []any{object{"url": publicURL, "description": "This environment."}}, d.root["servers"])
	require.NotContains(t, string(d.raw), "api.example.com")
	require.Contains(t, string(d.raw), `"type": "`+publicURL+`/docs/errors#not_found"`)
}

func TestEveryComponentIsUsed(t *testing.T) {
	t.Parallel()
	for _, environment := range environments {
		d := loadOf(t, environment)
		for kind, named := range d.object(d.root["components"]) {
			if kind == "securitySchemes" {
				continue
			}
			for name := range d.object(named) {
				require.Contains(t, string(d.raw), `"#/components/`+kind+"/"+name+`"`, environment)
			}
		}
	}
}

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
