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
	// Value is empty where Secret is set.
	Value string
	// Secret: the value comes from where secrets are kept.
	Secret bool
}

// Check says what is wrong with an environment: settings that the program does not read, required ones that it lacks,
// secret ones that stand in the open.
func (p Program) Check(environment []Variable) []string {
	var faults []string
	given := map[string]bool{}
	for _, v := range environment {
		if given[v.Name] {
			faults = append(faults, v.Name+" is set twice")
		}
		given[v.Name] = true
		field, known := p.Settings[v.Name]
		switch {
		case !known && strings.HasPrefix(v.Name, settings.Prefix):
			faults = append(faults, fmt.Sprintf("%s is no setting of %s", v.Name, p.Name))
		case known && field.Secret && !v.Secret:
			faults = append(faults, v.Name+" is a secret and stands in the open")
		}
	}
	for name, field := range p.Settings {
		if field.Required && !given[name] {
			faults = append(faults, fmt.Sprintf("%s lacks %s", p.Name, name))
		}
	}
	slices.Sort(faults)
	return faults
}
