// Package programs lists the programs of the platform and the settings each of them reads, so that whatever describes a
// deployment can be held against them.
package programs

import (
	"fmt"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/services/catalog"
	"github.com/partnergifting/platform/services/events"
	"github.com/partnergifting/platform/services/orders"
	personallinks "github.com/partnergifting/platform/services/personal-links"
	"github.com/partnergifting/platform/services/tenants"
	"github.com/partnergifting/platform/services/webhook"
)

// Program is a program of the platform.
type Program struct {
	Name string
	// Settings are what it reads, by the names of the variables.
	Settings map[string]settings.Field
	// Fields are the same in the order of the code.
	Fields []settings.Field

	config any
}

// Load reads the settings from the environment, as the program does when it starts.
func (p Program) Load() error { return settings.Load(p.config) }

// All are the programs by name.
func All() (map[string]Program, error) {
	programs := map[string]Program{}
	for name, cfg := range map[string]any{
		"gateway":        &gateway.Config{},
		"tenants":        &tenants.Config{},
		"catalog":        &catalog.Config{},
		"orders":         &orders.Config{},
		"personal-links": &personallinks.Config{},
		"events":         &events.Config{},
		"webhook":        &webhook.Config{},
	} {
		fields, err := settings.Fields(cfg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		program := Program{Name: name, Settings: map[string]settings.Field{}, Fields: fields, config: cfg}
		for _, field := range fields {
			program.Settings[field.Variable] = field
		}
		programs[name] = program
	}
	return programs, nil
}
