// Package settings reads configuration from the environment into structs whose zero values work.
//
// Every variable starts with GIFTING_; the struct tags `env`, `envDefault` and `doc` name it, give
// its default and say what it is for.
package settings

import (
	"fmt"
	"reflect"
	"strings"
	"text/tabwriter"

	"github.com/caarlos0/env/v11"
)

// Prefix of every variable of the platform.
const Prefix = "GIFTING_"

// Load fills cfg, a pointer to a struct, from the environment.
func Load(cfg any) error {
	if err := env.ParseWithOptions(cfg, env.Options{Prefix: Prefix}); err != nil {
		return fmt.Errorf("configuration: %w", err)
	}
	return nil
}

// Describe lists the variables of cfg with defaults and meaning, for a --help text.
func Describe(cfg any) (string, error) {
	params, err := env.GetFieldParamsWithOptions(cfg, env.Options{Prefix: Prefix})
	if err != nil {
		return "", fmt.Errorf("describe configuration: %w", err)
	}
	docs := map[string]string{}
	collectDocs(reflect.TypeOf(cfg), Prefix, docs)
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, p := range params {
		value := p.DefaultValue
		if p.Required {
			value = "required"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", p.Key, value, docs[p.Key])
	}
	if err := table.Flush(); err != nil {
		return "", fmt.Errorf("describe configuration: %w", err)
	}
	return out.String(), nil
}

func collectDocs(t reflect.Type, prefix string, docs map[string]string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for f := range t.Fields() {
		if f.Type.Kind() == reflect.Struct && f.Tag.Get("env") == "" {
			collectDocs(f.Type, prefix+f.Tag.Get("envPrefix"), docs)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("env"), ",")
		docs[prefix+name] = f.Tag.Get("doc")
	}
}
