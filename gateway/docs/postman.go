package docs

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/partnergifting/platform/gateway/internal/staticfile"
	"github.com/partnergifting/platform/gateway/openapi"
)

const postmanPath = sitePath + "/postman.json"

// collection is a Postman collection of format 2.1.
type collection struct {
	Info struct {
		Name        string `json:"name"`
		Description string `json:"description"`
		Schema      string `json:"schema"`
	} `json:"info"`
	Auth      postmanAuth     `json:"auth"`
	Variables []postmanPair   `json:"variable"`
	Items     []postmanFolder `json:"item"`
}

type postmanAuth struct {
	Type   string        `json:"type"`
	Bearer []postmanPair `json:"bearer,omitempty"`
}

type postmanPair struct {
	Key         string `json:"key"`
	Value       string `json:"value"`
	Type        string `json:"type,omitempty"`
	Description string `json:"description,omitempty"`
	Disabled    bool   `json:"disabled,omitempty"`
}

type postmanFolder struct {
	Name  string        `json:"name"`
	Items []postmanItem `json:"item"`
}

type postmanItem struct {
	Name     string         `json:"name"`
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

// addPostman adds the collection. What belongs to the reader's tenant is a variable of it, such as {{brandId}}.
func (b *builder) addPostman() error {
	var c collection
	info := b.document.Root.Get("info")
	c.Info.Name, c.Info.Description = info.Get("title").String(), info.Get("summary").String()
	c.Info.Schema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"
	c.Auth = postmanAuth{"bearer", []postmanPair{{Key: "token", Value: "{{apiKey}}", Type: "string"}}}
	for _, op := range operationsOf(b.document.Root) {
		item, err := postmanOf(op)
		if err != nil {
			return err
		}
		tag := op.Get("tags").All()[0].String()
		at := slices.IndexFunc(c.Items, func(f postmanFolder) bool { return f.Name == tag })
		if at < 0 {
			at = len(c.Items)
			c.Items = append(c.Items, postmanFolder{Name: tag})
		}
		c.Items[at].Items = append(c.Items[at].Items, item)
	}
	items, err := json.Marshal(c.Items)
	if err != nil {
		return err
	}
	c.Variables = []postmanPair{{Key: "baseUrl", Value: b.document.PublicURL}, {Key: "apiKey"}}
	for _, m := range postmanVariable.FindAllStringSubmatch(string(items), -1) {
		if !slices.ContainsFunc(c.Variables, func(v postmanPair) bool { return v.Key == m[1] }) {
			c.Variables = append(c.Variables, postmanPair{Key: m[1]})
		}
	}
	written, err := json.MarshalIndent(c, "", "  ")
	b.add(postmanPath, staticfile.New(jsonType, staticfile.Revalidate, written).ForAnyOrigin())
	return err
}

func postmanOf(op operation) (postmanItem, error) {
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
		body, err := op.exampleBody()
		if err != nil {
			return postmanItem{}, err
		}
		raw := withVariables(body, func(name string) string { return "{{" + name + "}}" }, "{{$guid}}")
		r.Body = &postmanBody{"raw", raw, map[string]any{"raw": map[string]string{"language": "json"}}}
	}
	return postmanItem{Name: op.Get("summary").String(), Request: r, Response: []struct{}{}}, nil
}

// postmanVariable is a variable of the collection. Those that begin with $ are Postman's own.
var postmanVariable = regexp.MustCompile(`\{\{([a-zA-Z]+)\}\}`)

// postmanParameter is sent if it is required; others are there to be switched on.
func postmanParameter(p openapi.Node) postmanPair {
	return postmanPair{
		Key: p.Get("name").String(), Value: p.Get("example").String(), Disabled: !p.Get("required").Has(yes),
		Description: strings.TrimSpace(p.Get("description").String()),
	}
}
