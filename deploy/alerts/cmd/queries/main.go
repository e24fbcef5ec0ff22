// Command queries prints the queries of all dashboards and of the runbooks named by its arguments as Prometheus rules, so
// that promtool can check their syntax. It runs in the root of the repository.
package main

import (
	"fmt"
	"io"
	"os"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/deploy/alerts"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "queries:", err)
		os.Exit(1)
	}
}

type rule struct {
	Record string `yaml:"record"`
	Expr   string `yaml:"expr"`
}

func run(runbooks []string, out io.Writer) error {
	var rules []rule
	dashboards, err := alerts.Dashboards(".")
	if err != nil {
		return err
	}
	for _, d := range dashboards {
		for _, p := range d.Panels {
			for _, t := range p.Targets {
				rules = append(rules, rule{fmt.Sprintf("dashboard:%d", len(rules)), alerts.Interpolate(t.Expr)})
			}
		}
	}
	for _, path := range runbooks {
		text, err := os.ReadFile(path) //nolint:gosec // The caller's own files.
		if err != nil {
			return fmt.Errorf("read runbook: %w", err)
		}
		for _, query := range alerts.BlockLines(string(text), "promql") {
			rules = append(rules, rule{fmt.Sprintf("runbook:%d", len(rules)), query})
		}
	}
	type group struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	}
	return yaml.NewEncoder(out).Encode(map[string][]group{"groups": {{"queries", rules}}})
}
