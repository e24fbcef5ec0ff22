package alerts

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rule is a recording rule or an alert.
type Rule struct {
	Record      string            `yaml:"record"`
	Alert       string            `yaml:"alert"`
	Expr        string            `yaml:"expr"`
	For         string            `yaml:"for"`
	Labels      map[string]string `yaml:"labels"`
	Annotations map[string]string `yaml:"annotations"`
}

// Rules reads all rules of the chart. root is the root of the repository.
func Rules(root string) ([]Rule, error) {
	var all []Rule
	err := readFiles(root, "alerts/*.yaml", func(text []byte) error {
		var file struct {
			Groups []struct {
				Rules []Rule `yaml:"rules"`
			} `yaml:"groups"`
		}
		err := yaml.Unmarshal(text, &file)
		for _, group := range file.Groups {
			all = append(all, group.Rules...)
		}
		return err
	})
	return all, err
}

// Dashboard is the part of a Grafana dashboard that is checked.
type Dashboard struct {
	UID    string `json:"uid"`
	Title  string `json:"title"`
	Panels []struct {
		ID      int    `json:"id"`
		Type    string `json:"type"`
		Title   string `json:"title"`
		GridPos struct {
			H, W, X, Y int
		} `json:"gridPos"`
		Targets []struct {
			Expr         string `json:"expr"`
			LegendFormat string `json:"legendFormat"`
		} `json:"targets"`
	} `json:"panels"`
}

// Dashboards reads all dashboards of the chart. root is the root of the repository.
func Dashboards(root string) ([]Dashboard, error) {
	var all []Dashboard
	err := readFiles(root, "dashboards/*.json", func(text []byte) error {
		var d Dashboard
		err := json.Unmarshal(text, &d)
		all = append(all, d)
		return err
	})
	return all, err
}

// readFiles reads the files of the chart that match the pattern. They are in the chart's folder because a chart can read only
// its own files.
func readFiles(root, pattern string, read func(text []byte) error) error {
	paths, err := filepath.Glob(filepath.Join(root, "helm/gifting/files", pattern))
	if err != nil {
		return err
	}
	for _, path := range paths {
		text, err := os.ReadFile(path) //nolint:gosec // A file of the repository.
		if err == nil {
			err = read(text)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", path, err)
		}
	}
	return nil
}

// BlockLines returns the lines of a runbook's code blocks in one language.
func BlockLines(text, language string) []string {
	block := regexp.MustCompile("(?s)```" + regexp.QuoteMeta(language) + "\n(.*?)```")
	var all []string
	for _, found := range block.FindAllStringSubmatch(text, -1) {
		all = append(all, strings.Split(strings.TrimSpace(found[1]), "\n")...)
	}
	return all
}
