package openapi

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reference is the data of the reference page.
type reference struct {
	Title    string
	Menu     []menu
	Document node
	Lead     string
	Guide    []section
}

func referencePage(root *yaml.Node) ([]byte, error) {
	page := reference{Document: node{root: root, value: root}}
	page.Title = page.Document.Get("info", "title").String()
	page.Lead, page.Guide = sections(page.Document.Get("info", "description").String())
	page.Menu = page.contents()
	return render("reference", &page)
}

// operationView is an operation or a webhook.
type operationView struct {
	node
	Path, Method string
	Webhook      bool
}

// Operations returns the operations and webhooks of a tag.
func (p *reference) Operations(tag string) (operations []operationView) {
	for _, kind := range []string{"paths", "webhooks"} {
		for _, path := range p.Document.Get(kind).All() {
			for _, op := range path.All() {
				if op.Get("tags").Has(tag) {
					operations = append(operations, operationView{op, path.Name, strings.ToUpper(op.Name), kind == "webhooks"})
				}
			}
		}
	}
	return operations
}

func (p *reference) contents() []menu {
	guide := menu{Title: "Guide"}
	for _, s := range p.Guide {
		guide.Links = append(guide.Links, link{"#" + s.ID, s.Title})
	}
	guide.Links = append(guide.Links, link{"docs/errors", "Error codes"}, link{"docs/changelog", "Change log"})
	menus := []menu{guide}
	for _, tag := range p.Document.Get("tags").All() {
		name := tag.Get("name").String()
		m := menu{Title: name, Links: []link{{"#" + slug(name), "Overview"}}}
		for _, op := range p.Operations(name) {
			m.Links = append(m.Links, link{"#" + op.Get("operationId").String(), op.Get("summary").String()})
		}
		menus = append(menus, m)
	}
	schemas := menu{Title: "Schemas"}
	for _, s := range p.Document.Get("components", "schemas").All() {
		schemas.Links = append(schemas.Links, link{"#schema-" + s.Name, s.Name})
	}
	return append(menus, schemas)
}

// field is a member of a schema or a parameter. Place is where a parameter is sent.
type field struct {
	Name, Place, Description string
	Required                 bool
	Badges                   []string
	Schema                   node
}

// Fields returns the properties of a schema, including those it adds to another one.
func (n node) Fields() (fields []field) {
	for _, s := range append([]node{n}, n.Get("allOf").All()...) {
		for _, p := range s.Get("properties").All() {
			fields = append(fields, field{
				Name: p.Name, Description: p.Get("description").String(), Required: s.Get("required").Has(p.Name),
				Badges: p.Badges(), Schema: p,
			})
		}
	}
	return fields
}

// Parameters returns the parameters of an operation.
func (n node) Parameters() (fields []field) {
	for _, p := range n.Get("parameters").All() {
		fields = append(fields, field{
			Name: p.Get("name").String(), Place: p.Get("in").String(), Description: strings.TrimSpace(p.Get("description").String()),
			Required: p.Get("required").Has("true"), Badges: p.Badges(), Schema: p.Get("schema"),
		})
	}
	return fields
}

// Headers returns the headers of a response, without those that most responses have.
func (n node) Headers() []node {
	return slices.DeleteFunc(n.Get("headers").All(), func(h node) bool {
		return slices.Contains([]string{"Request-Id", "RateLimit", "RateLimit-Policy", "Ignored-Parameters"}, h.Name)
	})
}
