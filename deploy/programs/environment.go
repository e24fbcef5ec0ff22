package programs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/partnergifting/platform/pkg/settings"
)

// Variable of a program's environment.
type Variable struct {
	Name string
	// Value is empty if Secret is set.
	Value string
	// Secret means that the value comes from a secret store.
	Secret bool
}

// Check returns the problems of an environment: unknown and missing settings, and secrets in plain text.
func (p Program) Check(environment []Variable) []string {
	var wrong []string
	set := map[string]bool{}
	for _, v := range environment {
		if set[v.Name] {
			wrong = append(wrong, v.Name+" is set twice")
		}
		set[v.Name] = true
		field, known := p.Settings[v.Name]
		switch {
		case !known && strings.HasPrefix(v.Name, settings.Prefix):
			wrong = append(wrong, fmt.Sprintf("%s is not a setting of %s", v.Name, p.Name))
		case known && field.Secret && !v.Secret:
			wrong = append(wrong, v.Name+" is a secret in plain text")
		}
	}
	for name, field := range p.Settings {
		if field.Required && !set[name] {
			wrong = append(wrong, fmt.Sprintf("%s lacks %s", p.Name, name))
		}
	}
	slices.Sort(wrong)
	return wrong
}
