package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	_ "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"        // Registers the messages of the examples.
	_ "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1" // Registers the messages of the examples.
	_ "github.com/partnergifting/platform/proto/gen/gifting/webhook/v1"       // Registers the messages of the examples.
)

const (
	// exampleURL is replaced by the public URL.
	exampleURL = "https://api.example.com/api/public/v1"
	// exampleRequestID is the instance of every error that the document shows.
	exampleRequestID = "4bf92f3577b34da6a3ce929d0e0e4736"
)

// expander turns the parts of the document into the published form. The comments of document/00-api.yaml and examples.yaml
// describe the tags they use.
type expander struct {
	publicURL string
	errors    httperror.Writer
	records   map[string]*yaml.Node
}

func newExpander(publicURL string) (*expander, error) {
	x := &expander{publicURL: publicURL, errors: httperror.Writer{DocsURL: publicURL + sitePath}, records: map[string]*yaml.Node{}}
	file, err := readYAML("examples.yaml")
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(file.Content); i += 2 {
		record, err := x.render(file.Content[i+1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file.Content[i].Value, err)
		}
		x.records[file.Content[i].Value] = record
	}
	return x, nil
}

// render writes a record of examples.yaml as the API writes the message that its tag names.
func (x *expander) render(n *yaml.Node) (*yaml.Node, error) {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(protoreflect.FullName(strings.TrimPrefix(n.Tag, "!")))
	if err != nil {
		return nil, err
	}
	var members map[string]any
	if err := n.Decode(&members); err != nil {
		return nil, err
	}
	raw, err := json.Marshal(members)
	if err != nil {
		return nil, err
	}
	message := kind.New().Interface()
	if violations := restjson.Unmarshal(raw, message); len(violations) > 0 {
		return nil, problem.Invalid(violations...)
	}
	if raw, err = restjson.Marshal(message); err != nil {
		return nil, err
	}
	return x.expandJSON(raw)
}

func (x *expander) expandJSON(raw []byte) (*yaml.Node, error) {
	n, err := parseYAML(raw) // JSON is YAML.
	if err != nil {
		return nil, err
	}
	return x.expand(n)
}

// expand copies a node. Comments, aliases and inline notation are for the authors of the parts and are not published.
func (x *expander) expand(n *yaml.Node) (*yaml.Node, error) {
	switch {
	case n.Kind == yaml.AliasNode:
		return x.expand(n.Alias)
	case n.Tag == "!problems":
		return x.problems(n)
	case n.Tag == "!example":
		record, ok := x.records[n.Value]
		if !ok {
			return nil, fmt.Errorf("no example %q", n.Value)
		}
		return record, nil
	}
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Style: n.Style &^ yaml.FlowStyle, Value: n.Value}
	if n.Kind == yaml.ScalarNode {
		c.Value = strings.ReplaceAll(n.Value, exampleURL, x.publicURL)
	}
	for _, child := range n.Content {
		expanded, err := x.expand(child)
		if err != nil {
			return nil, err
		}
		c.Content = append(c.Content, expanded)
	}
	if required := member(c, "required"); required != nil && required.Tag == "!all" {
		properties := member(c, required.Value)
		if properties == nil {
			return nil, fmt.Errorf("line %d: !all %s, but there is no such member", n.Line, required.Value)
		}
		*required = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := 0; i < len(properties.Content); i += 2 {
			required.Content = append(required.Content, properties.Content[i])
		}
	}
	return c, nil
}

// shownProblem has the members of an error that do not follow from its code.
type shownProblem struct {
	Detail        string
	CurrentStatus string `yaml:"currentStatus"`
	OrderID       string `yaml:"orderId"`
	Errors        []problem.Violation
}

// UnmarshalYAML also accepts only the detail.
func (s *shownProblem) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		s.Detail = n.Value
		return nil
	}
	type members shownProblem
	return n.Decode((*members)(s))
}

// problems lists errors under their codes, each as the API writes it.
func (x *expander) problems(n *yaml.Node) (*yaml.Node, error) {
	examples := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for i := 0; i < len(n.Content); i += 2 {
		code := problem.Code(n.Content[i].Value)
		if problem.Lookup(code).Code != code {
			return nil, fmt.Errorf("no error has the code %q", code)
		}
		var shown shownProblem
		if err := n.Content[i+1].Decode(&shown); err != nil {
			return nil, fmt.Errorf("%s: %w", code, err)
		}
		body, err := x.expandJSON(x.errors.Body(exampleRequestID, &problem.Error{
			Code: code, Detail: shown.Detail, CurrentStatus: shown.CurrentStatus, OrderID: shown.OrderID, Violations: shown.Errors,
		}))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", code, err)
		}
		examples.Content = append(examples.Content, scalar(string(code)), &yaml.Node{
			Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{scalar("value"), body},
		})
	}
	return examples, nil
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

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

// addForcedAnswers adds the parameter Sandbox-Fault to every operation that needs a key, and the header Sandbox to its errors. The
// errors that are forced have the header, and those of operations below /sandbox. So the authors of operations need not repeat
// both. Only the document of the sandbox has them.
func addForcedAnswers(document Node) {
	if !document.Get("components", "parameters", "SandboxFault").Exists() {
		return
	}
	for _, path := range document.Get("paths").All() {
		for _, op := range path.All() {
			if op.Get("security").Exists() {
				continue // It needs no key.
			}
			addFault(op)
			for _, response := range op.Get("responses").All() {
				headers := response.Get("headers")
				// Without a valid key nothing is known about the path.
				if response.Name >= "400" && response.Name != "401" && headers.Exists() && !headers.Get("Sandbox").Exists() {
					headers.value.Content = append(headers.value.Content, scalar("Sandbox"), refTo("headers", "Sandbox"))
				}
			}
		}
	}
}

// addFault adds Sandbox-Fault to an operation, with the values that it accepts.
func addFault(op Node) {
	parameters := op.Get("parameters")
	if !parameters.Exists() {
		parameters.value = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		op.value.Content = append(op.value.Content, scalar("parameters"), parameters.value)
	}
	fault := "SandboxFaultWithoutKey"
	for _, p := range parameters.All() {
		if p.Get("name").String() == "Idempotency-Key" && p.Get("required").Has("true") {
			fault = "SandboxFault"
		}
	}
	parameters.value.Content = append(parameters.value.Content, refTo("parameters", fault))
}

func refTo(kind, name string) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
		scalar("$ref"), scalar("#/components/" + kind + "/" + name),
	}}
}
