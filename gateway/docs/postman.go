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

// postmanPlan is the content of postman.yaml.
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

// collection is a Postman collection of format 2.1.
type collection struct {
	Info struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      string `json:"schema"`
	} `json:"info"`
	Auth      postmanAuth     `json:"auth"`
	Events    []postmanEvent  `json:"event"`
	Variables []postmanPair   `json:"variable"`
	Items     []postmanFolder `json:"item"`
}

type postmanAuth struct {
	Type   string        `json:"type"`
	Bearer []postmanPair `json:"bearer,omitempty"`
}

// postmanEvent is a script that runs after a response.
type postmanEvent struct {
	Listen string `json:"listen"`
	Script struct {
		Type  string   `json:"type"`
		Lines []string `json:"exec"`
	} `json:"script"`
}

type postmanPair struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	Disabled    bool   `json:"disabled,omitempty"`
}

type postmanFolder struct {
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Items       []postmanItem `json:"item"`
}

type postmanItem struct {
	Name     string         `json:"name"`
	Events   []postmanEvent `json:"event,omitempty"`
	Request  postmanRequest `json:"request"`
	Response []struct{}     `json:"response"`
}

type postmanRequest struct {
	Method      string        `json:"method"`
	Description string        `json:"description"`
	Auth        *postmanAuth  `json:"auth,omitempty"`
	Header      []postmanPair `json:"header"`
	URL         postmanURL    `json:"url"`
	Body        *postmanBody  `json:"body,omitempty"`
}

type postmanURL struct {
	Raw   string        `json:"raw"`
	Host  []string      `json:"host"`
	Path  []string      `json:"path"`
	Query []postmanPair `json:"query,omitempty"`
}

type postmanBody struct {
	Mode    string         `json:"mode"`
	Raw     string         `json:"raw"`
	Options map[string]any `json:"options"`
}

// addPostman adds the collection. The reader sets the variables baseUrl and apiKey, scripts set the others.
func (b *builder) addPostman() error {
	var plan postmanPlan
	if err := yaml.Unmarshal(postmanSource, &plan); err != nil {
		return fmt.Errorf("postman.yaml: %w", err)
	}
	var c collection
	c.Info.Name, c.Info.Description = b.document.Root.Get("info", "title").String(), plan.Description
	c.Info.Schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
	c.Auth = postmanAuth{"bearer", []postmanPair{{Key: "token", Value: "{{apiKey}}", Type: "string"}}}
	c.Variables = []postmanPair{{Key: "baseUrl", Value: b.document.PublicURL}, {Key: "apiKey"}}
	c.Events = afterResponse(`pm.test("the request succeeds", () => pm.response.to.be.success);`)
	operations := map[string]operation{}
	for _, op := range operationsOf(b.document.Root) {
		operations[op.ID()] = op
	}
	for _, planned := range plan.Folders {
		folder := postmanFolder{Name: planned.Name, Description: planned.Description}
		for _, request := range planned.Requests {
			op, ok := operations[request.Operation]
			if !ok { // Production has no sandbox.
				continue
			}
			item, err := postmanOf(op, request)
			if err != nil {
				return err
			}
			folder.Items = append(folder.Items, item)
		}
		if len(folder.Items) > 0 {
			c.Items = append(c.Items, folder)
		}
	}
	written, err := json.MarshalIndent(c, "", "  ")
	b.add(postmanPath, staticfile.New(jsonType, staticfile.Revalidate, written).ForAnyOrigin())
	return err
}

func afterResponse(lines ...string) []postmanEvent {
	event := postmanEvent{Listen: "test"}
	event.Script.Type, event.Script.Lines = "text/javascript", lines
	return []postmanEvent{event}
}

func postmanOf(op operation, planned plannedRequest) (postmanItem, error) {
	path := pathVariable.ReplaceAllString(op.Path, "{$0}")
	r := postmanRequest{Method: op.Method, Description: op.Get("description").String(), Header: []postmanPair{}, URL: postmanURL{
		Raw: "{{baseUrl}}" + path, Host: []string{"{{baseUrl}}"}, Path: strings.Split(strings.TrimPrefix(path, "/"), "/"),
	}}
	if op.Get("security").Exists() {
		r.Auth = &postmanAuth{Type: "noauth"}
	}
	for _, p := range op.parameters("query") {
		r.URL.Query = append(r.URL.Query, postmanParameter(p))
	}
	if r.Method == http.MethodPost {
		for _, p := range op.parameters("header") {
			pair := postmanParameter(p)
			if pair.Key == "Idempotency-Key" {
				pair.Value = "{{$guid}}"
			}
			r.Header = append(r.Header, pair)
		}
		body := planned.Example
		if body == "" {
			var err error
			if body, err = op.exampleBody(); err != nil {
				return postmanItem{}, err
			}
		}
		r.Body = &postmanBody{"raw", body, map[string]any{"raw": map[string]string{"language": "json"}}}
	}
	item := postmanItem{Name: op.Get("summary").String(), Request: r, Response: []struct{}{}}
	if len(planned.Set) > 0 {
		lines := []string{"const body = pm.response.json();"}
		for _, name := range slices.Sorted(maps.Keys(planned.Set)) {
			lines = append(lines, fmt.Sprintf("pm.collectionVariables.set(%q, %s);", name, planned.Set[name]))
		}
		item.Events = afterResponse(lines...)
	}
	return item, nil
}

var uuidForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// postmanParameter is sent if it is required; others are there to be switched on. The id of a record is a variable.
func postmanParameter(p openapi.Node) postmanPair {
	pair := postmanPair{
		Key: p.Get("name").String(), Value: p.Get("example").String(), Disabled: !p.Get("required").Has(yes),
		Description: strings.TrimSpace(p.Get("description").String()),
	}
	if uuidForm.MatchString(pair.Value) {
		pair.Value = "{{" + pair.Key + "}}"
	}
	return pair
}
