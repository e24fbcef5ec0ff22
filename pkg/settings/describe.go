package settings

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
)

// Fields are the variables of cfg, a pointer to a struct, in the order of the struct.
func Fields(cfg any) ([]Field, error) {
	w, err := walk(cfg)
	if err != nil {
		return nil, err
	}
	return w.fields, nil
}

// Describe lists the variables of cfg with defaults and meaning, for a --help text.
func Describe(cfg any) (string, error) {
	fields, err := Fields(cfg)
	if err != nil {
		return "", fmt.Errorf("describe configuration: %w", err)
	}
	var out strings.Builder
	table := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		value := f.Default
		if f.Required {
			value = "required"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", f.Variable, value, f.Doc)
	}
	if err := table.Flush(); err != nil {
		return "", fmt.Errorf("describe configuration: %w", err)
	}
	return out.String(), nil
}

// Unknown are the variables of the environment, in the form of os.Environ, that have the prefix and are not in cfg: mistyped, or another program's.
func Unknown(cfg any, environment []string) []string {
	fields, err := Fields(cfg)
	if err != nil {
		return nil // Load has said so.
	}
	var unknown []string
	for _, entry := range environment {
		name, _, _ := strings.Cut(entry, "=")
		known := slices.ContainsFunc(fields, func(f Field) bool { return f.Variable == name })
		if strings.HasPrefix(name, Prefix) && !known {
			unknown = append(unknown, name)
		}
	}
	slices.Sort(unknown)
	return unknown
}
