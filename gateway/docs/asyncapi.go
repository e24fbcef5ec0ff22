package docs

import (
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/gateway/openapi"
)

const asyncapiPath = sitePath + "/asyncapi.yaml"

// addAsyncAPI describes the webhooks for tools of AsyncAPI 3, with the schemas of the OpenAPI document.
func (b *builder) addAsyncAPI() error {
	document := b.document.Root
	messages, operations := map[string]any{}, map[string]any{}
	channel := map[string]any{}
	for _, hook := range operationsIn(document, "webhooks") {
		message, err := asyncMessage(hook)
		if err != nil {
			return err
		}
		messages[hook.Path] = message
		channel[hook.Path] = ref("components", "messages", hook.Path)
		operations[hook.ID()] = map[string]any{
			"action": "receive", "channel": ref("channels", "webhook"), "summary": hook.Get("summary").String(),
			"messages": []any{ref("channels", "webhook", "messages", hook.Path)},
		}
	}
	schemas := map[string]any{}
	for name := range schemasOf(document, messages) {
		schema, err := document.Get("components", "schemas", name).Value()
		if err != nil {
			return err
		}
		schemas[name] = schema
	}
	out, err := yaml.Marshal(map[string]any{
		"asyncapi": "3.0.0",
		"info": map[string]any{
			"title": "Webhooks of the Partner Gifting API", "version": document.Get("info", "version").String(),
			"description":  "Each message is a signed POST to the webhook URL of a key. Any 2xx within ten seconds acknowledges it.",
			"license":      map[string]any{"name": "Apache 2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
			"externalDocs": map[string]any{"url": b.document.PublicURL + pagePath("", "webhooks")},
		},
		"defaultContentType": jsonType,
		"channels": map[string]any{"webhook": map[string]any{
			"description": "The webhook URL of a key.", "messages": channel,
		}},
		"operations": operations,
		"components": map[string]any{"messages": messages, "schemas": schemas},
	})
	b.addFile(asyncapiPath, staticfile.New(yamlType, staticfile.Revalidate, out).ForAnyOrigin())
	return err
}

func ref(path ...string) map[string]any {
	return map[string]any{"$ref": "#/" + strings.Join(path, "/")}
}

// asyncMessage is an event with its headers and examples.
func asyncMessage(hook operation) (map[string]any, error) {
	media := hook.Get("requestBody", "content", jsonType)
	payload, err := media.Get("schema").Value()
	if err != nil {
		return nil, err
	}
	headers, required := map[string]any{}, []string{}
	for _, p := range hook.parameters("header") {
		schema, err := p.Get("schema").Value()
		if err != nil {
			return nil, err
		}
		schema.(map[string]any)["description"] = p.Get("description").String()
		headers[p.Get("name").String()] = schema
		required = append(required, p.Get("name").String())
	}
	var examples []any
	for _, example := range media.Get("examples").All() {
		value, err := example.Get("value").Value()
		if err != nil {
			return nil, err
		}
		examples = append(examples, map[string]any{"summary": example.Get("summary").String(), "payload": value})
	}
	return map[string]any{
		"name": hook.Path, "title": hook.Get("summary").String(), "summary": hook.Get("description").String(), "payload": payload,
		"headers": map[string]any{"type": "object", "required": required, "properties": headers}, "examples": examples,
	}, nil
}

const schemaPath = "#/components/schemas/"

// schemasOf are the names of the schemas to which a value refers, and to which those refer.
func schemasOf(document openapi.Node, value any) map[string]bool {
	found := map[string]bool{}
	var visit func(value any)
	visit = func(value any) {
		switch v := value.(type) {
		case map[string]any:
			if to, ok := v["$ref"].(string); ok {
				if name, isSchema := strings.CutPrefix(to, schemaPath); isSchema && !found[name] {
					found[name] = true
					schema, _ := document.Get("components", "schemas", name).Value() // A decoded value of the same document.
					visit(schema)
				}
			}
			for _, member := range v {
				visit(member)
			}
		case []any:
			for _, element := range v {
				visit(element)
			}
		}
	}
	visit(value)
	return found
}
