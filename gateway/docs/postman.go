package docs

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/gateway/openapi"
)

const postmanPath = sitePath + "/postman.json"

//go:embed postman.yaml
var postmanSource []byte

// postmanPlan is the content of postman.yaml, which explains its members.
type postmanPlan struct {
	Description string
	Folders     []struct {
		Name, Description string
		Requests          []plannedRequest
	}
}

type plannedRequest struct {
	Operation string
	Example   string
	Set       map[string]string
}

// object is a JSON object of a Postman collection of format 2.1.
type object map[string]any

// addPostman adds the collection. The reader sets the variables baseUrl and apiKey, scripts set the others.
func (b *builder) addPostman() error {
	var plan postmanPlan
	if err := yaml.Unmarshal(postmanSource, &plan); err != nil {
		return fmt.Errorf("postman.yaml: %w", err)
	}
	operations := map[string]operation{}
	for _, op := range operationsOf(b.document.Root) {
		operations[op.ID()] = op
	}
	var folders []object
	for _, planned := range plan.Folders {
		var items []object
		for _, request := range planned.Requests {
			op, ok := operations[request.Operation]
			if !ok { // Production has no sandbox.
				continue
			}
			item, err := postmanOf(op, request)
			if err != nil {
				return err
			}
			items = append(items, item)
		}
		if len(items) > 0 {
			folders = append(folders, object{"name": planned.Name, "description": planned.Description, "item": items})
		}
	}
	written, err := json.MarshalIndent(object{
		"info": object{
			"name": b.document.Root.Get("info", "title").String(), "description": plan.Description,
			"schema": "https://schema.getpostman.com/json/collection/v2.1.0/collection.json",
		},
		"auth":     object{"type": "bearer", "bearer": []object{{"key": "token", "value": "{{apiKey}}", "type": "string"}}},
		"event":    afterResponse(`pm.test("the request succeeds", () => pm.response.to.be.success);`),
		"variable": []object{{"key": "baseUrl", "value": b.document.PublicURL}, {"key": "apiKey", "value": ""}},
		"item":     folders,
	}, "", "  ")
	b.addFile(postmanPath, staticfile.New(jsonType, staticfile.Revalidate, written).ForAnyOrigin())
	return err
}

// afterResponse is a script that runs after a response.
func afterResponse(lines ...string) []object {
	return []object{{"listen": "test", "script": object{"type": "text/javascript", "exec": lines}}}
}

func postmanOf(op operation, planned plannedRequest) (object, error) {
	path := pathVariable.ReplaceAllString(op.Path, "{$0}")
	url := object{
		"raw":  "{{baseUrl}}" + path,
		"host": []string{"{{baseUrl}}"},
		"path": strings.Split(strings.TrimPrefix(path, "/"), "/"),
	}
	request := object{"method": op.Method, "description": op.Get("description").String(), "url": url}
	if op.Get("security").Exists() {
		request["auth"] = object{"type": "noauth"}
	}
	query, header := []object{}, []object{}
	for _, p := range op.parameters("query") {
		query = append(query, postmanParameter(p))
	}
	if op.Method == http.MethodPost {
		for _, p := range op.parameters("header") {
			pair := postmanParameter(p)
			if pair["key"] == "Idempotency-Key" {
				pair["value"] = "{{$guid}}"
			}
			header = append(header, pair)
		}
		body := planned.Example
		if body == "" {
			var err error
			if body, err = op.exampleBody(); err != nil {
				return nil, err
			}
		}
		request["body"] = object{"mode": "raw", "raw": body, "options": object{"raw": object{"language": "json"}}}
	}
	url["query"], request["header"] = query, header
	item := object{"name": op.Get("summary").String(), "request": request, "response": []object{}}
	if len(planned.Set) > 0 {
		lines := []string{"const body = pm.response.json();"}
		for _, name := range slices.Sorted(maps.Keys(planned.Set)) {
			lines = append(lines, fmt.Sprintf("pm.collectionVariables.set(%q, %s);", name, planned.Set[name]))
		}
		item["event"] = afterResponse(lines...)
	}
	return item, nil
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// postmanParameter is sent if it is required; others are there to be switched on. The id of a record is a variable.
func postmanParameter(p openapi.Node) object {
	key, value := p.Get("name").String(), p.Get("example").String()
	if uuidForm.MatchString(value) {
		value = "{{" + key + "}}"
	}
	return object{
		"key": key, "value": value, "disabled": !p.Get("required").Has(yes),
		"description": strings.TrimSpace(p.Get("description").String()),
	}
}
