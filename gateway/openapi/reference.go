package openapi

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reference is what the template of the reference page shows.
type reference struct {
	Title   string
	Menu    []menu
	Spec    *spec
	Lead    string
	Guide   []section
	Groups  []group
	Schemas []schemaView
}

// group is a tag with its operations and webhooks.
type group struct {
	ID, Name, Description string
	Calls                 []call
}

type schemaView struct {
	ID, Name, Description string
	OneOf                 []schema
	Fields                []fieldView
}

// fieldView is a member of a schema, or a parameter, whose place is then said.
type fieldView struct {
	Name, Place string
	Required    bool
	Schema      schema
}

func referencePage(root *yaml.Node) ([]byte, error) {
	s, err := newSpec(root)
	if err != nil {
		return nil, err
	}
	page := reference{Title: s.Info.Title, Spec: s}
	page.Lead, page.Guide = sections(s.Info.Description)
	for _, tag := range s.Tags {
		g := group{ID: slug(tag.Name), Name: tag.Name, Description: tag.Description}
		for _, part := range []struct {
			paths    ordered[ordered[operation]]
			incoming bool
		}{{s.Paths, false}, {s.Webhooks, true}} {
			calls, err := callsOf(tag.Name, part.paths, part.incoming)
			if err != nil {
				return nil, err
			}
			g.Calls = append(g.Calls, calls...)
		}
		page.Groups = append(page.Groups, g)
	}
	for i := range s.Components.Schemas {
		named := &s.Components.Schemas[i]
		page.Schemas = append(page.Schemas, newSchemaView(named.Name, &named.Value))
	}
	page.Menu = page.contents()
	return render("reference", page)
}

func (p *reference) contents() []menu {
	guide := menu{Title: "Guide"}
	for _, s := range p.Guide {
		guide.Links = append(guide.Links, link{"#" + s.ID, s.Title})
	}
	guide.Links = append(guide.Links, link{"docs/errors", "Error codes"})
	menus := []menu{guide}
	for _, g := range p.Groups {
		m := menu{Title: g.Name, Links: []link{{"#" + g.ID, "Overview"}}}
		for i := range g.Calls {
			m.Links = append(m.Links, link{"#" + g.Calls[i].ID, g.Calls[i].Summary})
		}
		menus = append(menus, m)
	}
	schemas := menu{Title: "Schemas"}
	for i := range p.Schemas {
		schemas.Links = append(schemas.Links, link{"#" + p.Schemas[i].ID, p.Schemas[i].Name})
	}
	return append(menus, schemas)
}

func newSchemaView(name string, s *schema) schemaView {
	v := schemaView{ID: "schema-" + name, Name: name, Description: s.Description, OneOf: s.OneOf, Fields: fieldsOf(s)}
	for i := range s.AllOf {
		if s.AllOf[i].Ref != "" {
			v.Description += " An [" + s.AllOf[i].TypeName().Ref + "](#schema-" + s.AllOf[i].TypeName().Ref + ") with:"
		}
		v.Fields = append(v.Fields, fieldsOf(&s.AllOf[i])...)
	}
	return v
}

func fieldsOf(s *schema) []fieldView {
	var fields []fieldView
	for _, p := range s.Properties {
		fields = append(fields, fieldView{Name: p.Name, Required: slices.Contains(s.Required, p.Name), Schema: p.Value})
	}
	return fields
}

// parameterFields shows parameters as fields. What is said of a parameter stands at it, not at its
// schema.
func parameterFields(parameters []parameter) []fieldView {
	fields := make([]fieldView, len(parameters))
	for i, p := range parameters {
		p.Schema.Description = strings.TrimSpace(p.Description)
		fields[i] = fieldView{Name: p.Name, Place: p.In, Required: p.Required, Schema: p.Schema}
	}
	return fields
}
