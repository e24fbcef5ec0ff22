package alerts

import (
	"embed"
	"fmt"
	"io/fs"

	"go.yaml.in/yaml/v3"
)

//go:embed *.yaml
var files embed.FS

// Rule is a recording rule or an alert.
type Rule struct {
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// Rules reads all rules.
func Rules() ([]Rule, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list rules: %w", err)
	}
	var all []Rule
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read rules: %w", err)
		}
		var file struct {
			Groups []struct {
				Rules []Rule `yaml:"rules"`
			} `yaml:"groups"`
		}
		if err := yaml.Unmarshal(text, &file); err != nil {
			return nil, fmt.Errorf("rules of %s: %w", name, err)
		}
		for _, group := range file.Groups {
			all = append(all, group.Rules...)
		}
	}
	return all, nil
}

// AllNames are the series of a running platform and those that the rules record.
func AllNames() (Names, error) {
	names := PlatformNames()
	rules, err := Rules()
	if err != nil {
		return nil, err
	}
	for _, r := range rules {
		if r.Record != "" {
			names[r.Record] = []string{"namespace", "promise"}
		}
	}
	return names, nil
}
