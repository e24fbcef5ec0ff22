package openapi

import (
	"slices"
	"strings"
)

// call is an operation, or a webhook, as the reference page shows it.
type call struct {
	ID, Method, Path, Summary, Description string
	// Incoming is a webhook: we call, the reader answers.
	Incoming     bool
	Fields       []fieldView
	Body         *schema
	BodyRequired bool
	Requests     []example
	Answers      []answer
	Results      []example
}

// Class names the method's style.
func (c *call) Class() string { return strings.ToLower(c.Method) }

type answer struct {
	Status, Description string
	Schema              *schema
	Codes               []string
}

type example struct {
	Title, Text string
}

const (
	jsonMedia    = "application/json"
	problemMedia = "application/problem+json"
)

func callsOf(tag string, paths ordered[ordered[operation]], incoming bool) ([]call, error) {
	var calls []call
	for _, path := range paths {
		for _, method := range path.Value {
			if !slices.Contains(method.Value.Tags, tag) {
				continue
			}
			c, err := newCall(path.Name, method.Name, &method.Value)
			if err != nil {
				return nil, err
			}
			c.Incoming = incoming
			calls = append(calls, c)
		}
	}
	return calls, nil
}

func newCall(path, method string, op *operation) (c call, err error) {
	c = call{
		ID: op.OperationID, Method: strings.ToUpper(method), Path: path,
		Summary: op.Summary, Description: op.Description,
		Fields: parameterFields(op.Parameters),
	}
	if op.RequestBody != nil {
		c.BodyRequired = op.RequestBody.Required
		if m := op.RequestBody.Content.get(jsonMedia); m != nil {
			c.Body = m.Schema
			if c.Requests, err = examplesOf(m); err != nil {
				return c, err
			}
		}
	}
	for _, r := range op.Responses {
		a := answer{Status: r.Name, Description: r.Value.Description}
		if m := r.Value.Content.get(jsonMedia); m != nil {
			a.Schema = m.Schema
			if c.Results, err = examplesOf(m); err != nil {
				return c, err
			}
		}
		if m := r.Value.Content.get(problemMedia); m != nil {
			for _, e := range m.Examples {
				a.Codes = append(a.Codes, e.Name)
			}
		}
		c.Answers = append(c.Answers, a)
	}
	return c, nil
}

func examplesOf(m *media) ([]example, error) {
	var examples []example
	for _, e := range m.Examples {
		value := e.Value.Value
		text, err := toJSON(&value)
		if err != nil {
			return nil, err
		}
		examples = append(examples, example{Title: e.Value.Summary, Text: strings.TrimSpace(string(text))})
	}
	return examples, nil
}
