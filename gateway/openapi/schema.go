package openapi

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// schema is what the reference page shows of a JSON Schema.
type schema struct {
	Ref                  string `yaml:"$ref"`
	Type                 types
	Format               string
	Description          string
	Pattern              string
	Enum                 []*string
	Const                yaml.Node
	Default              yaml.Node
	MaxLength            *int      `yaml:"maxLength"`
	MinItems             *int      `yaml:"minItems"`
	MaxItems             *int      `yaml:"maxItems"`
	Minimum              yaml.Node `yaml:"minimum"`
	Maximum              yaml.Node `yaml:"maximum"`
	ExclusiveMinimum     yaml.Node `yaml:"exclusiveMinimum"`
	ExclusiveMaximum     yaml.Node `yaml:"exclusiveMaximum"`
	Items                *schema
	Properties           ordered[schema]
	Required             []string
	OneOf                []schema `yaml:"oneOf"`
	AllOf                []schema `yaml:"allOf"`
	AdditionalProperties *schema  `yaml:"additionalProperties"`
}

// types is one type or several.
type types []string

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *types) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*t = types{n.Value}
		return nil
	}
	return n.Decode((*[]string)(t))
}

const null = "null"

// Nullable says whether null is allowed.
func (s *schema) Nullable() bool {
	return slices.Contains(s.Type, null) || slices.ContainsFunc(s.OneOf, func(o schema) bool { return o.isNull() })
}

func (s *schema) isNull() bool { return len(s.Type) == 1 && s.Type[0] == null }

// typeName tells a schema's type in words; Ref, when set, is the schema its last word names.
type typeName struct {
	Words, Ref string
}

// TypeName tells the type, null left aside.
func (s *schema) TypeName() typeName {
	if s.Ref != "" {
		return typeName{Ref: strings.TrimPrefix(s.Ref, schemaRef)}
	}
	if s.Items != nil {
		of := s.Items.TypeName()
		return typeName{Words: "array of " + of.Words, Ref: of.Ref}
	}
	if s.AdditionalProperties != nil {
		of := s.AdditionalProperties.TypeName()
		return typeName{Words: "object of " + of.Words, Ref: of.Ref}
	}
	var names []string
	for _, option := range s.OneOf {
		if option.isNull() {
			continue
		}
		if option.Ref != "" {
			return option.TypeName()
		}
		names = append(names, option.TypeName().Words)
	}
	for _, t := range s.Type {
		if t != null {
			names = append(names, t)
		}
	}
	words := strings.Join(names, " or ")
	if s.Format != "" {
		words += " (" + s.Format + ")"
	}
	return typeName{Words: words}
}

// Values lists the values of an enumeration, null left aside.
func (s *schema) Values() []string {
	if s.Items != nil && len(s.Enum) == 0 {
		return s.Items.Values()
	}
	var values []string
	for _, v := range s.Enum {
		if v != nil {
			values = append(values, *v)
		}
	}
	if s.Const.Value != "" {
		values = append(values, s.Const.Value)
	}
	return values
}

// Limits tells the constraints in words.
func (s *schema) Limits() []string {
	var limits []string
	add := func(format string, value any) { limits = append(limits, fmt.Sprintf(format, value)) }
	if s.MaxLength != nil {
		add("at most %d characters", *s.MaxLength)
	}
	switch {
	case s.MinItems != nil && s.MaxItems != nil && *s.MinItems == *s.MaxItems:
		add("exactly %d", *s.MinItems)
	case s.MaxItems != nil:
		add("at most %d", *s.MaxItems)
	case s.MinItems != nil:
		add("at least %d", *s.MinItems)
	}
	switch {
	case s.Minimum.Value != "" && s.Maximum.Value != "":
		limits = append(limits, s.Minimum.Value+" to "+s.Maximum.Value)
	case s.Minimum.Value != "":
		add("at least %s", s.Minimum.Value)
	}
	if s.Pattern != "" && s.Pattern != `\S` {
		add("matches %s", s.Pattern)
	}
	if s.Default.Value != "" {
		add("default %s", s.Default.Value)
	}
	return limits
}
