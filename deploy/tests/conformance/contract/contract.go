// Package contract validates HTTP traffic against an OpenAPI 3.1 document: calls of its paths, and its webhooks.
//
// A request with a 2xx response must be valid, and so must every response, in status, media type, headers and body. A response
// must not have members, values or platform headers that the document does not declare, although callers must tolerate them. A
// path or method that the document does not have must be refused with a problem.
package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
	"github.com/pb33f/libopenapi-validator/config"
	validation "github.com/pb33f/libopenapi-validator/errors"
	"github.com/pb33f/libopenapi-validator/helpers"
	"github.com/pb33f/libopenapi-validator/paths"
	"github.com/pb33f/libopenapi/datamodel/high/base"
	v3 "github.com/pb33f/libopenapi/datamodel/high/v3"
)

// ErrInvalid means that traffic does not follow the document.
var ErrInvalid = errors.New("the traffic does not follow the OpenAPI document")

const problemSchema = "Problem"

// Contract validates traffic. It is safe for concurrent use.
type Contract struct {
	// validating is held while traffic is validated, because the validators write to the model when they render and hash a schema.
	validating sync.Mutex
	model      *v3.Document
	// problem is the schema of every error.
	problem  *base.Schema
	requests validator.Validator
	answers  validator.Validator
	webhooks validator.Validator
	regexes  sync.Map
}

// Read makes a contract of a document in JSON. Its schemas are compiled once.
func Read(document []byte) (*Contract, error) {
	var root map[string]any
	if err := json.Unmarshal(document, &root); err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	closeValues(root)
	model, err := modelOf(root)
	if err != nil {
		return nil, err
	}
	c := &Contract{model: model}
	if model.Components != nil {
		if proxy := model.Components.Schemas.GetOrZero(problemSchema); proxy != nil {
			c.problem = proxy.Schema()
		}
	}
	if c.problem == nil {
		return nil, errors.New("the document has no schema " + problemSchema)
	}
	closeObjects(root)
	closed, err := modelOf(root)
	if err != nil {
		return nil, err
	}
	hooks, err := deliveries(root)
	if err != nil {
		return nil, err
	}
	lenient := []config.Option{config.WithFormatAssertions(), config.WithRegexCache(&c.regexes)}
	c.requests = validator.NewValidatorFromV3Model(model, lenient...)
	c.answers = validator.NewValidatorFromV3Model(closed, append(lenient, strict()...)...)
	c.webhooks = validator.NewValidatorFromV3Model(hooks, append(lenient, config.WithoutSecurityValidation())...)
	return c, nil
}

// strict refuses undeclared headers, except those of HTTP itself, of browsers and of deprecations, which any answer may have.
// Bodies are validated by closed schemas.
func strict() []config.Option {
	return []config.Option{
		config.WithStrictMode(), config.WithStrictIgnorePaths("$.body", "$.body.**"),
		config.WithStrictIgnoredHeadersExtra("accept-ranges", "allow", "content-range", "content-security-policy",
			"cross-origin-resource-policy", "deprecation", "link", "referrer-policy", "strict-transport-security", "sunset",
			"x-content-type-options"),
	}
}

func modelOf(root map[string]any) (*v3.Document, error) {
	document, err := json.Marshal(root)
	if err != nil {
		return nil, fmt.Errorf("write the document: %w", err)
	}
	parsed, err := libopenapi.NewDocument(document)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	built, err := parsed.BuildV3Model()
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	return &built.Model, nil
}

// deliveries is a document in which each webhook is a path, so that a delivery is validated like any request.
func deliveries(root map[string]any) (*v3.Document, error) {
	hooks, ok := root["webhooks"].(map[string]any)
	if !ok {
		return nil, errors.New("the document has no webhooks")
	}
	asPaths := make(map[string]any, len(hooks))
	for name, hook := range hooks {
		asPaths["/"+name] = hook
	}
	return modelOf(map[string]any{
		"openapi": root["openapi"], "info": root["info"], "paths": asPaths, "components": root["components"],
	})
}

// body is a body that can be read once.
func body(content []byte) io.ReadCloser {
	if len(content) == 0 {
		return http.NoBody
	}
	return io.NopCloser(bytes.NewReader(content))
}

// invalid joins the validation errors.
func invalid(found []*validation.ValidationError) error {
	if len(found) == 0 {
		return nil
	}
	all := []error{ErrInvalid}
	for _, f := range found {
		all = append(all, fmt.Errorf("%s: %s", f.Message, f.Reason))
		for _, deeper := range f.SchemaValidationErrors {
			all = append(all, fmt.Errorf("at %s: %s", deeper.FieldPath, deeper.Reason))
		}
	}
	return errors.Join(all...)
}

// find returns the operation of the request's path and method, or nil.
func (c *Contract) find(r *http.Request) *v3.Operation {
	item, missing, _ := paths.FindPath(r, c.model, &c.regexes)
	if item == nil || len(missing) > 0 {
		return nil
	}
	return helpers.ExtractOperation(r, item)
}

// visit calls at for each JSON object of the value.
func visit(value any, at func(object map[string]any)) {
	switch v := value.(type) {
	case map[string]any:
		at(v)
		for _, member := range v {
			visit(member, at)
		}
	case []any:
		for _, element := range v {
			visit(element, at)
		}
	}
}

// closeValues closes what callers must expect to grow: lists of known values, and the choice of an event of an unknown type. The
// platform must send only what the document lists.
func closeValues(root map[string]any) {
	visit(root, func(object map[string]any) {
		if values, open := object["x-extensible-enum"]; open {
			object["enum"] = values
		}
	})
	if unknown := component(root, "#/components/schemas/UnknownEvent"); len(unknown) > 0 {
		unknown["not"] = map[string]any{}
	}
}

// closeObjects makes every schema of an object refuse members that it does not declare.
func closeObjects(root map[string]any) {
	visit(root, func(object map[string]any) {
		_, open := object["additionalProperties"]
		_, members := object["properties"].(map[string]any)
		if members && isObject(object["type"]) && !open {
			object["additionalProperties"] = false
		}
	})
}

// isObject reports whether a schema's type is that of an object, or of an object or null.
func isObject(kind any) bool {
	if several, ok := kind.([]any); ok {
		return len(several) > 0 && several[0] == "object"
	}
	return kind == "object"
}

// component returns the object that a reference within the document leads to, or an empty one.
func component(root map[string]any, ref string) map[string]any {
	at := root
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at, _ = at[name].(map[string]any)
	}
	if at == nil {
		return map[string]any{}
	}
	return at
}
