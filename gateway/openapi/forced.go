package openapi

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// addForcedAnswers adds the parameter Sandbox-Fault to every operation that needs a key, and the header Sandbox to the errors,
// which it forces and which operations below /sandbox return, so that the authors of operations need not repeat them. Only the
// document of the sandbox has both.
func addForcedAnswers(root *yaml.Node) {
	if member(member(member(root, "components"), "parameters"), "SandboxFault") == nil {
		return
	}
	for _, path := range values(member(root, "paths")) {
		for _, operation := range values(path) {
			if member(operation, "security") != nil {
				continue // It needs no key.
			}
			addFault(operation)
			addSandboxHeader(root, member(operation, "responses"))
		}
	}
}

// addFault adds Sandbox-Fault to an operation, with the values that it accepts.
func addFault(operation *yaml.Node) {
	parameters := member(operation, "parameters")
	if parameters == nil {
		parameters = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		operation.Content = append(operation.Content, scalar("parameters"), parameters)
	}
	key := refTo("parameters", "IdempotencyKey")
	fault := "SandboxFaultWithoutKey"
	for _, parameter := range parameters.Content {
		if ref := member(parameter, "$ref"); ref != nil && ref.Value == member(key, "$ref").Value {
			fault = "SandboxFault"
		}
	}
	parameters.Content = append(parameters.Content, refTo("parameters", fault))
}

func addSandboxHeader(root, responses *yaml.Node) {
	for pair := range slices.Chunk(responses.Content, 2) {
		status, response := pair[0].Value, pair[1]
		if status < "400" || status == "401" { // Without a valid key nothing is known about the path.
			continue
		}
		if named := member(response, "$ref"); named != nil {
			response = member(member(member(root, "components"), "responses"), named.Value[strings.LastIndexByte(named.Value, '/')+1:])
		}
		if headers := member(response, "headers"); headers != nil && member(headers, "Sandbox") == nil {
			headers.Content = append(headers.Content, scalar("Sandbox"), refTo("headers", "Sandbox"))
		}
	}
}

// values of the members of a mapping.
func values(n *yaml.Node) (found []*yaml.Node) {
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for pair := range slices.Chunk(n.Content, 2) {
		found = append(found, pair[1])
	}
	return found
}

func refTo(kind, name string) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{
		scalar("$ref"), scalar("#/components/" + kind + "/" + name),
	}}
}
