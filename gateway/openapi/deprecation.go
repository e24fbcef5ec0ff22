package openapi

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/pkg/problem"
)

// Usage says what a request has used of the API, so that its deprecations are found. Method and Path are empty for a request of no
// operation.
type Usage struct {
	// Method and Path are those of the operation. Path is its template; the names of its variables do not matter.
	Method, Path string
	RawQuery     string
	Body         []byte
	Status       int
	Err          error
}

// notice is a deprecation and the condition on which an answer announces it.
type notice struct {
	change  *Change
	applies func(u *Usage) bool
}

// Notices finds the deprecations of an answer.
type Notices struct {
	changelogURL string
	// byOperation has the notices by operationKey. Those of error codes have an empty key, because any operation may fail with
	// them.
	byOperation map[string][]notice
}

// Deprecate adds the headers of RFC 9745 and RFC 8594 if the request used, or its answer has, something that is deprecated. Both
// headers take one value, so the earliest dates count. Each deprecation has its links.
func (n *Notices) Deprecate(header http.Header, u *Usage) {
	if len(n.byOperation) == 0 {
		return
	}
	var found []*Change
	for _, candidate := range slices.Concat(n.byOperation[operationKey(u.Method, u.Path)], n.byOperation[""]) {
		if !slices.Contains(found, candidate.change) && candidate.applies(u) {
			found = append(found, candidate.change)
		}
	}
	if len(found) == 0 {
		return
	}
	since, sunset := found[0].Date, found[0].Sunset
	for _, c := range found {
		since, sunset = earlier(since, c.Date), earlier(sunset, c.Sunset)
		for _, rel := range []string{"deprecation", "sunset"} {
			header.Add("Link", fmt.Sprintf(`<%s#%s>; rel=%q; type="text/html"`, n.changelogURL, c.ID, rel))
		}
	}
	header.Set("Deprecation", "@"+strconv.FormatInt(since.Unix(), 10))
	header.Set("Sunset", sunset.UTC().Format(http.TimeFormat))
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

var variable = regexp.MustCompile(`\{[^}]*\}`)

// operationKey leaves out the names of variables, because they differ between the document and the contracts of the services.
func operationKey(method, path string) string {
	return strings.TrimSpace(strings.ToUpper(method) + " " + variable.ReplaceAllString(path, "{}"))
}

// deprecate marks in the document what is deprecated and returns its notices. It skips targets that do not exist; missing is the
// first of them.
func deprecate(root *yaml.Node, changes Changes, changelogURL string) (found *Notices, missing *Target) {
	found = &Notices{changelogURL: changelogURL, byOperation: map[string][]notice{}}
	for _, c := range changes.deprecations() {
		for _, t := range c.Affects {
			if !found.addTarget(NewNode(root), c, t) && missing == nil {
				missing = &t
			}
		}
	}
	return found, missing
}

// addTarget adds the notices of a deprecation for a target, and reports whether the target exists.
func (n *Notices) addTarget(document Node, c *Change, t Target) (exists bool) {
	if t.Code != "" {
		n.note("", c, func(u *Usage) bool { return problem.Is(u.Err, t.Code) })
		return problem.Lookup(t.Code).Code == t.Code
	}
	if t.Schema != "" {
		property := document.Get("components", "schemas", t.Schema, "properties", t.Property)
		if !property.Exists() {
			return false
		}
		mark(property.value, c)
		exists = true
	}
	for _, path := range document.Get("paths").All() {
		for _, op := range path.All() {
			key := operationKey(op.Name, path.Name)
			switch {
			case t.Schema != "":
				n.addProperty(key, op, c, t)
			case op.Get("operationId").String() != t.Operation: // The target is another operation.
			case t.Parameter != "":
				exists = markParameter(op, t.Parameter, c)
				n.note(key, c, func(u *Usage) bool {
					query, _ := url.ParseQuery(u.RawQuery)
					return query.Has(t.Parameter)
				})
			default:
				mark(op.value, c)
				exists = true
				n.note(key, c, func(*Usage) bool { return true })
			}
		}
	}
	return exists
}

func (n *Notices) note(key string, c *Change, applies func(u *Usage) bool) {
	n.byOperation[key] = append(n.byOperation[key], notice{c, applies})
}

// addProperty adds the notices of a property that an operation accepts or returns. A request uses it if its body has it. Every
// successful response uses it.
func (n *Notices) addProperty(key string, op Node, c *Change, t Target) {
	for _, path := range pathsTo(t.Schema, op.Get("requestBody", "content", "application/json", "schema"), nil) {
		path = append(slices.Clone(path), t.Property)
		n.note(key, c, func(u *Usage) bool {
			var body any
			return json.Unmarshal(u.Body, &body) == nil && has(body, path)
		})
	}
	for _, response := range op.Get("responses").All() {
		if len(pathsTo(t.Schema, response.Get("content", "application/json", "schema"), nil)) > 0 {
			n.note(key, c, func(u *Usage) bool { return u.Status < http.StatusMultipleChoices })
		}
	}
}

// anyMember is the element of a path that matches every member of a map.
const anyMember = "*"

// pathsTo returns the paths of member names at which a value of the schema has values of the schema called name. No schema of the
// document contains itself.
func pathsTo(name string, schema Node, path []string) (paths [][]string) {
	if ref := schema.SchemaName(); ref != "" {
		if ref == name {
			paths = append(paths, path)
		}
		named := NewNode(schema.root).Get("components", "schemas", ref)
		paths = append(paths, pathsTo(name, named, path)...)
	}
	for _, p := range schema.Get("properties").All() {
		paths = append(paths, pathsTo(name, p, append(slices.Clone(path), p.Name))...)
	}
	for _, part := range append(schema.Get("anyOf").All(), schema.Get("oneOf").All()...) {
		paths = append(paths, pathsTo(name, part, path)...)
	}
	if items := schema.Get("items"); items.Exists() { // A list is searched element by element.
		paths = append(paths, pathsTo(name, items, path)...)
	}
	if values := schema.Get("additionalProperties"); values.Exists() {
		paths = append(paths, pathsTo(name, values, append(slices.Clone(path), anyMember))...)
	}
	return paths
}

// has reports whether a JSON value has something other than null at a path.
func has(value any, path []string) bool {
	switch v := value.(type) {
	case nil:
		return false
	case []any:
		return slices.ContainsFunc(v, func(element any) bool { return has(element, path) })
	case map[string]any:
		if len(path) == 0 {
			return true
		}
		if path[0] != anyMember {
			return has(v[path[0]], path[1:])
		}
		for _, member := range v {
			if has(member, path[1:]) {
				return true
			}
		}
		return false
	}
	return len(path) == 0
}

// mark adds deprecated, which OpenAPI defines, and x-sunset, which its tools know.
func mark(n *yaml.Node, c *Change) {
	n.Content = append(n.Content,
		scalar(deprecated), &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"},
		scalar("x-sunset"), scalar(c.Sunset.Format(time.DateOnly)))
}

// markParameter marks a parameter of an operation and reports whether it exists. Several operations may share a parameter, so it is
// replaced by a marked copy.
func markParameter(op Node, name string, c *Change) bool {
	list := op.Get("parameters")
	for i, p := range list.All() {
		if p.Get("name").String() == name && p.Get("in").String() == "query" {
			own := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: slices.Clone(p.value.Content)}
			mark(own, c)
			list.value.Content[i] = own
			return true
		}
	}
	return false
}
