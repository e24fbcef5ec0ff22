package openapi_test

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/api/annotations"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/partnergifting/platform/gateway/internal/operation"
	"github.com/partnergifting/platform/pkg/enumname"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

// nullInResponses are messages without the keyword optional that may be null in a response.
var nullInResponses = []protoreflect.FullName{
	"gifting.catalog.v1.Product.estimate", "gifting.catalog.v1.Product.estimate_eur",
}

// comparison compares schemas with the descriptors of messages, as restjson reads or writes them.
type comparison struct {
	document
	request bool
	// inPath are members of the request that are in the path and not in the body.
	inPath []string
}

func contract(t *testing.T, op *operation.Operation) (protoreflect.MethodDescriptor, *annotations.HttpRule) {
	t.Helper()
	name := strings.ReplaceAll(strings.TrimPrefix(op.Name, "/"), "/", ".")
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName(name))
	require.NoError(t, err)
	method, ok := found.(protoreflect.MethodDescriptor)
	require.True(t, ok)
	rule, ok := proto.GetExtension(method.Options(), annotations.E_Http).(*annotations.HttpRule)
	require.True(t, ok)
	return method, rule
}

func TestResponsesMatchTheContracts(t *testing.T) {
	t.Parallel()
	eachOperation(t, func(t *testing.T, d document, op *operation.Operation) {
		method, rule := contract(t, op)
		c := comparison{document: d}
		schema := d.at("paths", camel(op.Path), strings.ToLower(op.Method), "responses",
			strconv.Itoa(op.Success), "content", "application/json", "schema")
		if field := rule.GetResponseBody(); field != "" {
			c.value(method.Output().Fields().ByName(protoreflect.Name(field)), d.object(schema))
			return
		}
		c.message(method.Output(), d.object(schema))
	})
}

func TestBodiesMatchTheContracts(t *testing.T) {
	t.Parallel()
	eachOperation(t, func(t *testing.T, d document, op *operation.Operation) {
		method, rule := contract(t, op)
		body, described := d.operation(op)["requestBody"].(object)
		require.Equal(t, op.Method == http.MethodPost, described)
		if !described {
			return
		}
		require.Equal(t, "*", rule.GetBody())
		require.Equal(t, !op.EmptyBody, body["required"])
		schema := d.at("paths", camel(op.Path), "post", "requestBody", "content", "application/json", "schema")
		comparison{document: d, request: true, inPath: op.PathFields}.message(method.Input(), d.object(schema))
	})
}

func TestParametersMatchTheContracts(t *testing.T) {
	t.Parallel()
	eachOperation(t, func(t *testing.T, d document, op *operation.Operation) {
		method, _ := contract(t, op)
		c := comparison{document: d, request: true}
		var got []string
		want := parametersOf(method.Input(), op)
		parameters, _ := d.operation(op)["parameters"].([]any)
		for _, p := range parameters {
			parameter := d.object(p)
			name, in := parameter["name"].(string), parameter["in"].(string)
			line := in + " " + name
			if parameter["required"] == true {
				line += " required"
			}
			got = append(got, line)
			if in != "header" {
				c.value(method.Input().Fields().ByJSONName(name), d.object(parameter["schema"]))
			}
		}
		require.ElementsMatch(t, want, got)
	})
}

// parametersOf are the members outside of the body. Those of a POST are in the path only.
func parametersOf(request protoreflect.MessageDescriptor, op *operation.Operation) []string {
	want := []string{"header Sandbox-Fault"}
	if hasKey(op) {
		want = append(want, "header Idempotency-Key required")
	}
	if op.KeyIgnored {
		want = append(want, "header Idempotency-Key")
	}
	if op.Conditional {
		want = append(want, map[string]string{http.MethodGet: "header If-None-Match", http.MethodPost: "header If-Match"}[op.Method])
	}
	for i := range request.Fields().Len() {
		field := request.Fields().Get(i)
		line := "query " + field.JSONName()
		if slices.Contains(op.PathFields, string(field.Name())) {
			line = "path " + field.JSONName()
		} else if op.Method == http.MethodPost {
			continue
		}
		if !field.HasOptionalKeyword() {
			line += " required"
		}
		want = append(want, line)
	}
	return want
}

// message compares an object with a message.
func (c comparison) message(m protoreflect.MessageDescriptor, schema object) {
	c.t.Helper()
	switch {
	case m.FullName() == "google.protobuf.Timestamp":
		require.Equal(c.t, []string{"string", "date-time"}, []string{only(c.t, schema), schema["format"].(string)})
		return
	case inline(m) && m.Oneofs().Len() == 0:
		c.value(m.Fields().Get(0), schema)
		return
	case inline(m):
		options, _ := schema["oneOf"].([]any)
		require.Len(c.t, options, m.Fields().Len())
		for i, option := range options {
			c.message(m.Fields().Get(i).Message(), c.object(option))
		}
		return
	}
	if options, ok := schema["anyOf"].([]any); ok { // These are variants of one message, such as events by type.
		for _, option := range options {
			c.message(m, c.object(option))
		}
		return
	}
	if options, ok := schema["oneOf"].([]any); ok { // Each has some members of the message, such as results by their outcome.
		schema = c.union(options)
	}
	c.members(m, schema)
}

// union is an object with the members of all options. Those that all of them require are required, and a member has the values of
// all of them.
func (c comparison) union(options []any) object {
	c.t.Helper()
	properties, required, values := object{}, map[string]int{}, map[string][]any{}
	for _, option := range options {
		schema := c.object(option)
		for _, name := range texts(schema["required"]) {
			required[name]++
		}
		for name, property := range c.object(schema["properties"]) {
			properties[name] = property
			if enum, ok := c.object(property)["enum"].([]any); ok {
				values[name] = append(values[name], enum...)
			}
		}
	}
	for name, enum := range values {
		properties[name] = object{"type": "string", "enum": enum}
	}
	maps.DeleteFunc(required, func(_ string, count int) bool { return count < len(options) })
	var all []any
	for name := range required {
		all = append(all, name)
	}
	return object{"type": "object", "properties": properties, "required": all}
}

func (c comparison) members(m protoreflect.MessageDescriptor, schema object) {
	c.t.Helper()
	require.Equal(c.t, "object", only(c.t, schema), m.FullName())
	properties, _ := schema["properties"].(object)
	inPath := c.inPath
	c.inPath = nil
	var required []string
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		if slices.Contains(inPath, string(field.Name())) {
			continue
		}
		require.NotNil(c.t, properties[field.JSONName()], "add %s of %s to gateway/openapi/document", field.JSONName(), m.FullName())
		property := c.object(properties[field.JSONName()])
		if c.required(field) {
			required = append(required, field.JSONName())
		}
		require.Equal(c.t, c.nullable(field), nullable(property), "whether %s may be null", field.FullName())
		c.value(field, property)
	}
	require.Len(c.t, properties, m.Fields().Len()-len(inPath), m.FullName())
	require.ElementsMatch(c.t, required, texts(schema["required"]), "required members of %s", m.FullName())
}

// required reports whether the schema must require the member. A response has every member, but only one of a oneof.
func (c comparison) required(field protoreflect.FieldDescriptor) bool {
	if !c.request {
		return field.ContainingOneof() == nil || field.HasOptionalKeyword()
	}
	return operation.Required(field)
}

// nullable reports whether the schema must allow null. In a request, null means that a member is omitted.
func (c comparison) nullable(field protoreflect.FieldDescriptor) bool {
	if c.request {
		return !c.required(field)
	}
	return field.HasOptionalKeyword() || slices.Contains(nullInResponses, field.FullName())
}

// value compares a schema with the value of a field, ignoring null.
func (c comparison) value(field protoreflect.FieldDescriptor, schema object) {
	c.t.Helper()
	element, one := field, schema
	switch {
	case field.IsList():
		require.Equal(c.t, "array", only(c.t, schema), field.FullName())
		one = c.object(schema["items"])
	case field.IsMap():
		require.Equal(c.t, "object", only(c.t, schema), field.FullName())
		element, one = field.MapValue(), c.object(schema["additionalProperties"])
	}
	c.single(element, one)
	if limit, _ := one["maxLength"].(float64); c.request {
		want := proto.GetExtension(field.Options(), commonv1.E_MaxLength)
		require.Equal(c.t, want, int32(limit), "maxLength of %s in gateway/openapi/document", field.FullName())
	}
}

func (c comparison) single(field protoreflect.FieldDescriptor, schema object) {
	c.t.Helper()
	want := map[protoreflect.Kind][2]any{
		protoreflect.BoolKind:   {"boolean", nil},
		protoreflect.Int32Kind:  {"integer", "int32"},
		protoreflect.Int64Kind:  {"integer", "int64"},
		protoreflect.StringKind: {"string", schema["format"]},
		protoreflect.EnumKind:   {"string", nil},
		protoreflect.BytesKind:  {"object", nil}, // The only bytes in the contracts are raw_json.
	}
	switch {
	case field.Message() != nil:
		c.message(field.Message(), c.unwrap(schema))
		return
	case c.request && proto.GetExtension(field.Options(), commonv1.E_Decimal) == true:
		options, _ := schema["oneOf"].([]any)
		require.Len(c.t, options, 2)
		require.Equal(c.t, "string", only(c.t, c.object(options[0])))
		require.Equal(c.t, "number", only(c.t, c.object(options[1])))
		return
	}
	require.Contains(c.t, want, field.Kind(), field.FullName())
	expected := want[field.Kind()]
	require.Equal(c.t, expected, [2]any{only(c.t, schema), schema["format"]}, field.FullName())
	if field.Enum() != nil {
		names := slices.Clone(enumname.Of(field.Enum()).All())
		if nullable(schema) {
			names = append(names, "")
		}
		require.ElementsMatch(c.t, names, texts(schema["enum"]), field.FullName())
	}
}

// unwrap returns the message of a choice between it and null.
func (c comparison) unwrap(schema object) object {
	c.t.Helper()
	if options, ok := schema["oneOf"].([]any); ok && nullable(schema) {
		return c.object(options[0])
	}
	return schema
}

func inline(m protoreflect.MessageDescriptor) bool {
	return proto.GetExtension(m.Options(), commonv1.E_Inline) == true
}

// only returns the single type of a schema, ignoring null.
func only(t *testing.T, schema object) string {
	t.Helper()
	if single, ok := schema["type"].(string); ok {
		return single
	}
	several := slices.DeleteFunc(texts(schema["type"]), func(s string) bool { return s == "null" })
	require.Len(t, several, 1, "%v", schema)
	return several[0]
}

func nullable(schema object) bool {
	if slices.Contains(texts(schema["type"]), "null") {
		return true
	}
	options, _ := schema["oneOf"].([]any)
	return slices.ContainsFunc(options, func(o any) bool {
		option, _ := o.(object)
		return option["type"] == "null"
	})
}
