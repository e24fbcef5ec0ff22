package contract

import "strings"

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

// withoutHints removes the discriminators, which the validator cannot compile. They only hint which choice a value is.
func withoutHints(root any) {
	visit(root, func(object map[string]any) {
		if _, choice := object["oneOf"]; choice {
			delete(object, "discriminator")
		}
	})
}

// closeObjects makes every schema of an object refuse members that it does not declare. A part of another schema stays open,
// because the whole is closed.
func closeObjects(root map[string]any) {
	const closing = "unevaluatedProperties"
	parts := partsOf(root)
	visit(root, func(object map[string]any) {
		_, open := object["additionalProperties"]
		_, composed := object["allOf"]
		_, members := object["properties"].(map[string]any)
		if composed || members && isObject(object["type"]) && !open {
			object[closing] = false
		}
	})
	for _, part := range parts {
		delete(part, closing)
	}
}

// isObject says whether a schema's type is that of an object, or of an object or null.
func isObject(kind any) bool {
	if several, ok := kind.([]any); ok {
		return len(several) > 0 && several[0] == "object"
	}
	return kind == "object"
}

// partsOf returns the schemas in an allOf, and those that it refers to.
func partsOf(root map[string]any) []map[string]any {
	var parts []map[string]any
	visit(root, func(object map[string]any) {
		list, _ := object["allOf"].([]any)
		for _, element := range list {
			part, ok := element.(map[string]any)
			if !ok {
				continue
			}
			parts = append(parts, part)
			if ref, ok := part["$ref"].(string); ok {
				parts = append(parts, component(root, ref))
			}
		}
	})
	return parts
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
