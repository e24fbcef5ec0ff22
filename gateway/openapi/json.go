package openapi

import (
	"bytes"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// toJSON writes a node as JSON, members in their order.
func toJSON(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(jsontext.NewEncoder(&b, jsontext.WithIndent("  ")), n); err != nil {
		return nil, fmt.Errorf("%w: %w", errDocument, err)
	}
	return b.Bytes(), nil
}

func writeJSON(e *jsontext.Encoder, n *yaml.Node) error {
	switch n.Kind {
	case yaml.MappingNode:
		return writeAll(e, jsontext.BeginObject, jsontext.EndObject, n)
	case yaml.SequenceNode:
		return writeAll(e, jsontext.BeginArray, jsontext.EndArray, n)
	default:
		return writeScalar(e, n)
	}
}

// writeAll writes a mapping or sequence. The names and values of a mapping alternate, as the tokens of an object do.
func writeAll(e *jsontext.Encoder, begin, end jsontext.Token, n *yaml.Node) error {
	if err := e.WriteToken(begin); err != nil {
		return err
	}
	for i, child := range n.Content {
		var err error
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			err = e.WriteToken(jsontext.String(child.Value))
		} else {
			err = writeJSON(e, child)
		}
		if err != nil {
			return err
		}
	}
	return e.WriteToken(end)
}

func writeScalar(e *jsontext.Encoder, n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		return e.WriteToken(jsontext.Null)
	case "!!bool", "!!int", "!!float":
		return e.WriteValue(jsontext.Value(n.Value))
	default:
		return e.WriteToken(jsontext.String(n.Value))
	}
}
