// Package report makes one report of the output of benchmarks: a table for the terminal, JSON, and plots.
package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Report is one run of the benchmarks.
type Report struct {
	At      time.Time `json:"at"`
	Version string    `json:"version"`
	// Machine is the one it ran on.
	Machine  Machine   `json:"machine"`
	Results  []Result  `json:"results"`
	Outcomes []Outcome `json:"outcomes"`
}

// Write writes the report as JSON and as plots into a folder.
func (r Report) Write(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // The report is no secret.
		return fmt.Errorf("folder of the report: %w", err)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("report: %w", err)
	}
	files := map[string][]byte{"report.json": append(text, '\n')}
	for name, plot := range r.plots() {
		files[name] = []byte(plot)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil { //nolint:gosec // As the folder.
			return fmt.Errorf("report: %w", err)
		}
	}
	return nil
}

// Result has the metrics of one benchmark by their units.
type Result struct {
	Benchmark string             `json:"benchmark"`
	Metrics   map[string]float64 `json:"metrics"`
}

var (
	// line is a result; the number behind the name counts processors.
	line = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s+\d+\s+(.+)$`)
	// loose is a result whose name was printed earlier, because the benchmark logged in between.
	loose = regexp.MustCompile(`^\s+\d+\t\s*([-+0-9].*)$`)
	name  = regexp.MustCompile(`^Benchmark(\S+?)(?:-\d+)?\s*$`)
)

// Parse reads the output of `go test -bench`.
func Parse(output io.Reader) ([]Result, error) {
	var results []Result
	var last string
	lines := bufio.NewScanner(output)
	const longest = 1 << 20
	lines.Buffer(nil, longest)
	for lines.Scan() {
		text := lines.Text()
		if found := name.FindStringSubmatch(text); found != nil {
			last = found[1]
			continue
		}
		var benchmark, numbers string
		if found := line.FindStringSubmatch(text); found != nil {
			benchmark, numbers = found[1], found[2]
		} else if found := loose.FindStringSubmatch(text); found != nil && last != "" {
			benchmark, numbers = last, found[1]
		} else {
			continue
		}
		metrics, err := parseMetrics(numbers)
		if err != nil {
			return nil, fmt.Errorf("result of %s: %w", benchmark, err)
		}
		results = append(results, Result{Benchmark: benchmark, Metrics: metrics})
	}
	return results, lines.Err()
}

// parseMetrics reads pairs of a number and its unit.
func parseMetrics(text string) (map[string]float64, error) {
	fields := strings.Fields(text)
	metrics := map[string]float64{}
	for i := 0; i+1 < len(fields); i += 2 {
		value, err := strconv.ParseFloat(fields[i], 64)
		if err != nil {
			return nil, err
		}
		metrics[fields[i+1]] = value
	}
	return metrics, nil
}
